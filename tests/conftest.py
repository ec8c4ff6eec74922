"""What every test may ask for."""

from every_kernel import kernel, kernel_name

__all__ = ["kernel", "kernel_name"]
