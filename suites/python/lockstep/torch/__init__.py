"""PyTorch as an implementation under test: python -m lockstep.torch"""
