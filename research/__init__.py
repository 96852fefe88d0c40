"""Studies of open problems, and the measurements that support what the documentation claims."""
