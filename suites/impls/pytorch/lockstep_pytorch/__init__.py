"""PyTorch as an implementation under test. A package, so that no file of it can hide a module that
PyTorch imports: NVIDIA's is called `cuda`."""
