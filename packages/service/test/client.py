"""Drives both services with Debian's python3-grpcio; messages are encoded and decoded by hand, field by field."""
import sys

import grpc


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def text(number, value):
    data = value if isinstance(value, bytes) else value.encode()
    return varint(number << 3 | 2) + varint(len(data)) + data


def fields(data):
    found, at = {}, 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = number()
        if tag & 7 == 0:
            value = number()
        else:
            assert tag & 7 == 2, tag
            size = number()
            value = data[at : at + size]
            at += size
        found.setdefault(tag >> 3, []).append(value)
    return found


def refusal(call):
    try:
        call()
    except grpc.RpcError as error:
        return error.code()
    raise AssertionError("the call was not refused")


channel = grpc.insecure_channel("unix:" + sys.argv[1])
unary = lambda path: channel.unary_unary(path)
stream = lambda path: channel.unary_stream(path)

# GitLab's service
request = text(1, "42") + text(6, "{}\n---\nrun:\n  - {name: it, script: 'echo hello; echo; exit 3'}\n")
request += text(5, text(1, text(1, "K") + text(2, "v")))
assert unary("/proto.StepRunner/Run")(request, wait_for_ready=True) == b""
log = b"".join(fields(piece)[1][0] for piece in stream("/proto.StepRunner/FollowLogs")(text(1, "42")))
lines = log.split(b"\n")
assert lines.pop() == b"", log
assert all(line[27:28] == b" " and line[31:32] in (b" ", b"+") for line in lines), log
assert [line[32:] for line in lines if line[30:31] == b"O"] == [b"hello", b""], log
status = fields(fields(unary("/proto.StepRunner/Status")(text(1, "42")))[1][0])
assert status[3] == [3] and status[2][0].endswith(b"exit status 3"), status
assert unary("/proto.StepRunner/Cancel")(text(1, "42")) == b""
assert unary("/proto.StepRunner/Close")(text(1, "42")) == b""
assert refusal(lambda: unary("/proto.StepRunner/Status")(text(1, "42"))) == grpc.StatusCode.NOT_FOUND
assert refusal(lambda: unary("/proto.StepRunner/FollowSteps")(b"")) == grpc.StatusCode.UNIMPLEMENTED

# ours
token = (("step-runner-job-token", "t"),)
run = text(1, "a") + text(6, "echo out; echo err >&2")
assert unary("/steps.v1.StepRunner/Run")(run, metadata=token) == b""
streams = {0: b"", 1: b""}
for piece in stream("/steps.v1.StepRunner/FollowIO")(text(1, "a"), metadata=token):
    piece = fields(piece)
    streams[piece.get(2, [0])[0]] += piece[1][0]
assert streams == {0: b"out\n", 1: b"err\n"}, streams
assert refusal(lambda: list(stream("/steps.v1.StepRunner/Follow")(text(1, "a")))) == grpc.StatusCode.UNAUTHENTICATED
states = [fields(state) for state in stream("/steps.v1.StepRunner/Follow")(text(1, "a"), metadata=token)]
assert fields(states[-1][100][0])[2] == [1], states[-1]
bad = text(1, "b") + text(6, "true") + text(3, text(1, "A-B") + text(2, "x"))
assert refusal(lambda: unary("/steps.v1.StepRunner/Run")(bad)) == grpc.StatusCode.INVALID_ARGUMENT
other = text(1, "a") + text(6, "echo other")
assert refusal(lambda: unary("/steps.v1.StepRunner/Run")(other, metadata=token)) == grpc.StatusCode.ALREADY_EXISTS

# health: SERVING
assert fields(unary("/grpc.health.v1.Health/Check")(b"")) == {1: [1]}
print("ok")
