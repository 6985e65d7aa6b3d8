"""Pictures, pages and servers: what people look at."""
