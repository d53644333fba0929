"""What pytest collects: modules that need an optional package only where it is installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("pyspark") else ["src/naively/engines/spark_ml.py"]
