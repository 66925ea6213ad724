# SPDX-License-Identifier: Apache-2.0
"""te: the name of the kernel compiler in Python (TBE, TIK) that comes with the chips' toolkit. It is not here. Programs import it, and its
companions tbe and impl, to decorate kernels that they may never compile: any name can be imported and decorates a function by
leaving it as it is; whatever else is done with it ends with an error."""

import importlib.abc
import importlib.machinery
import sys
import types

_ROOTS = ("te", "tbe", "impl")


class KernelCompilerAbsent(RuntimeError):
    pass


def _refuse(name):
    raise KernelCompilerAbsent(f"{name} is not here: kernels in Python (TBE, TIK) cannot be compiled on the simulated chip; "
                               "write the kernel in Ascend C, or use an operator of the library")


class _Decorator:
    """What a call of an absent name gives: it may decorate a function."""

    def __init__(self, name):
        self._name = name

    def __call__(self, *arguments, **options):
        if len(arguments) == 1 and not options and isinstance(arguments[0], types.FunctionType):
            return arguments[0]
        return _refuse(self._name)

    def __getattr__(self, attribute):
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return _refuse(self._name)

    def __iter__(self):
        return _refuse(self._name)

    def __bool__(self):
        return _refuse(self._name)


class _Absent:
    """A name of a module that is not here."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, attribute):
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return _Absent(f"{self._name}.{attribute}")

    def __call__(self, *arguments, **options):
        decorator = _Decorator(self._name)
        return decorator(*arguments) if len(arguments) == 1 and isinstance(arguments[0], types.FunctionType) and not options else decorator


class _Module(types.ModuleType):
    def __getattr__(self, attribute):
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return _Absent(f"{self.__name__}.{attribute}")


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Last on the path: what exists is found before."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in _ROOTS:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return _Module(spec.name)

    def exec_module(self, module):
        module.__path__ = []


sys.meta_path.append(_Finder())
