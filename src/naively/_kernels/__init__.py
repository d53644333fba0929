"""The functions of the compiled core `_core`, typed. Nothing else opens it.

Import the module that you need. Each function of the core has a readable twin in `tests.twins`, which is its oracle in
the tests.
"""
