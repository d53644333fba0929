"""The one door to the compiled core `_core`: every kernel, typed, with its checks of shape.

Each kernel has a readable twin in `naively.kernels.twins`, which is its oracle in the tests.
"""
