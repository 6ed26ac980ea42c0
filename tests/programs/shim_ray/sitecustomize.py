"""Ray carries a copy of pynvml inside its package; this gives it pymtml in every process that Ray starts."""

import sys

import pymtml

sys.modules["ray._private.thirdparty.pynvml"] = pymtml
