"""Files and folders: stores with checksums, named arrays in one file."""
