"""Makes Ray's manager of NVIDIA GPUs hand out Moore Threads cards, by MUSA_VISIBLE_DEVICES.

Ray counts the cards by its copy of pynvml, which is pymtml. It writes those that a task or an actor may use into
CUDA_VISIBLE_DEVICES, which the MUSA runtime does not read.
"""

import os

VISIBLE = "MUSA_VISIBLE_DEVICES"
NOT_TO_BE_SET = "RAY_EXPERIMENTAL_NOSET_MUSA_VISIBLE_DEVICES"
NOT_TO_BE_SET_FOR_CUDA = "RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES"


def is_set(name):
    """Whether a variable is true, as Ray reads it."""
    return os.environ.get(name, "").lower() in ("1", "true")


def change(module):
    """Replace the manager in ray._private.accelerators.nvidia_gpu by one that uses the variable of MUSA.

    If no MTML library can be loaded, Ray stays as it is.
    """
    import pymtml

    try:
        pymtml._mtmlGetFunctionPointer("mtmlLibraryInit")
    except pymtml.MTMLError:
        return
    own = module.NvidiaGPUAcceleratorManager

    class MusaGPUAcceleratorManager(own):
        """Moore Threads GPU accelerators."""

        @staticmethod
        def get_visible_accelerator_ids_env_var():
            return VISIBLE

        @staticmethod
        def get_current_process_visible_accelerator_ids():
            """The cards to choose from, or None for all; the fallback is CUDA_VISIBLE_DEVICES, as in torchada."""
            visible = os.environ.get(VISIBLE, os.environ.get("CUDA_VISIBLE_DEVICES"))
            if visible is None or visible.strip().lower() == "all":
                return None
            if visible == "NoDevFiles":
                return []
            return [entry.strip() for entry in visible.split(",") if entry.strip()]

        @staticmethod
        def set_current_process_visible_accelerator_ids(ids):
            # Programs that choose their card by its index among all cards may have set only CUDA's variable.
            if not is_set(NOT_TO_BE_SET) and not is_set(NOT_TO_BE_SET_FOR_CUDA):
                os.environ[VISIBLE] = ",".join(str(entry) for entry in ids)

    module.NvidiaGPUAcceleratorManager = MusaGPUAcceleratorManager
    # Ray Train and the jobs of Ray take the names of the variables from here.
    module.CUDA_VISIBLE_DEVICES_ENV_VAR = VISIBLE
    module.NOSET_CUDA_VISIBLE_DEVICES_ENV_VAR = NOT_TO_BE_SET
