"""The comparison with PyTorch. A package, so that no file of it can hide a module that PyTorch imports."""
