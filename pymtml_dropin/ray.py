"""Lets Ray's manager of NVIDIA GPUs hand out the cards of Moore Threads: by MUSA_VISIBLE_DEVICES.

Ray asks its copy of pynvml, which is pymtml, how many cards there are. Which of them a task or an actor may use it
writes into CUDA_VISIBLE_DEVICES, which the MUSA runtime does not read.
"""

import os

VISIBLE = "MUSA_VISIBLE_DEVICES"
NOT_TO_BE_SET = "RAY_EXPERIMENTAL_NOSET_MUSA_VISIBLE_DEVICES"
NOT_TO_BE_SET_FOR_CUDA = "RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES"


def is_set(name):
    """Whether a variable says yes, in Ray's words."""
    return os.environ.get(name, "").lower() in ("1", "true")


def change(module):
    """Put a manager that knows the variable of MUSA in the place of the one in ray._private.accelerators.nvidia_gpu.

    Without an MTML library that loads Ray goes on as it is.
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
            """The cards to choose from, or None for all of them; CUDA_VISIBLE_DEVICES stands in, as torchada has it."""
            visible = os.environ.get(VISIBLE, os.environ.get("CUDA_VISIBLE_DEVICES"))
            if visible is None or visible.strip().lower() == "all":
                return None
            if visible == "NoDevFiles":
                return []
            return [entry.strip() for entry in visible.split(",") if entry.strip()]

        @staticmethod
        def set_current_process_visible_accelerator_ids(ids):
            # Programs that choose their card by its index among all have said so by CUDA's variable.
            if not is_set(NOT_TO_BE_SET) and not is_set(NOT_TO_BE_SET_FOR_CUDA):
                os.environ[VISIBLE] = ",".join(str(entry) for entry in ids)

    module.NvidiaGPUAcceleratorManager = MusaGPUAcceleratorManager
    # Ray Train and the jobs of Ray take the names of the variables from here.
    module.CUDA_VISIBLE_DEVICES_ENV_VAR = VISIBLE
    module.NOSET_CUDA_VISIBLE_DEVICES_ENV_VAR = NOT_TO_BE_SET
