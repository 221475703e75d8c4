"""test_layers.py: a test file as a user of the wheel writes it: the implementation in the program, and a layer."""
import sys

from lockstep.pytest_plugin import rules

test_reference = rules("reference", area="SPLIT")
test_layer = rules(f"exec:{sys.executable} numpy_layer.py", area="SPLIT")
