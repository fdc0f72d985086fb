"""What can end a job, and how the row tells it."""


class Unsupported(RuntimeError):
    """Something that this engine, its packages or this device cannot do; says which and why."""


class InputError(RuntimeError):
    """A file that is missing or does not hold what it should."""


# What the CPU's allocator, the driver and its libraries say (lib/train/base/errors.cpp has the same for the other engine).
REFUSED_ALLOCATIONS = ("DefaultCPUAllocator: can't allocate memory", "DefaultCPUAllocator: not enough memory",
                       "CUDA error: out of memory", "cudaErrorMemoryAllocation", "CUBLAS_STATUS_ALLOC_FAILED",
                       "CUDNN_STATUS_ALLOC_FAILED", "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED")
MISSING_KERNELS = ("not implemented for '", "Could not run '")


def kind_of(error):
    """oom | unsupported | input | error: the kinds of the `failed` event."""
    import torch

    text = str(error)
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)) or any(each in text for each in REFUSED_ALLOCATIONS):
        return "oom"
    if isinstance(error, Unsupported):
        return "unsupported"
    if isinstance(error, RuntimeError) and any(each in text for each in MISSING_KERNELS):
        return "unsupported"
    return "input" if isinstance(error, InputError) else "error"
