"""Count where the data is: parts that are counted anywhere and added, and Spark."""
