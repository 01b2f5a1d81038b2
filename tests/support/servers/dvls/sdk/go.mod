module dvls

go 1.26

require github.com/Devolutions/go-dvls v0.20.1
