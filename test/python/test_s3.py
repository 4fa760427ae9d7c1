"""Files in S3, as moto's server has them: read, found by patterns, written; and signatures.

Sources: runtime/storage/files/store_upload.cpp
"""

from __future__ import annotations

import io
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import headrace as hr
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from duckdb_oracle import same
from headrace import errors
from headrace._src import tools
from headrace._src.engines import driver
from headrace._src.query.sql import compile_to
from rank_processes import Processes
from store_server import KEYS_OF_LISTING, Asked, Fault, StoreServer, s3, serving

TABLE = pa.table({"k": [1, 2, 3, 4], "t": ["a", "b", None, "d"]})


@pytest.fixture(scope="module")
def moto() -> Iterator[tuple[str, int]]:
    with s3() as place:
        yield place


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "very secret")
    monkeypatch.setenv("AWS_REGION", "us-east-1")


@pytest.fixture()
def server(moto: tuple[str, int], monkeypatch: pytest.MonkeyPatch) -> Iterator[StoreServer]:
    with serving(upstream=moto) as store:
        monkeypatch.setenv("AWS_ENDPOINT_URL", store.url)
        yield store


def _client(server: StoreServer, service: str = "s3") -> Any:
    return boto3.client(service, endpoint_url=server.url, region_name="us-east-1")


@pytest.fixture()
def bucket(server: StoreServer, request: pytest.FixtureRequest) -> Iterator[str]:
    name = f"b{abs(hash(request.node.name))}"
    _client(server).create_bucket(Bucket=name)
    server.forget()
    yield name


def _put(server: StoreServer, bucket: str, key: str, table: pa.Table) -> None:
    file = io.BytesIO()
    parquet.write_table(table, file)
    _client(server).put_object(Bucket=bucket, Key=key, Body=file.getvalue(), ACL="public-read")
    server.forget()


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_the_answers_of_local_files(server: StoreServer, bucket: str, tpch_small: Path, ranks: int) -> None:
    for path in tpch_small.glob("*.parquet"):
        _client(server).put_object(Bucket=bucket, Key=f"tpch/{path.name}", Body=path.read_bytes())
    query = (
        "select n_name, sum(l_extendedprice * (1 - l_discount)) as revenue "
        "from lineitem, orders, customer, nation "
        "where l_orderkey = o_orderkey and o_custkey = c_custkey and c_nationkey = n_nationkey "
        "group by n_name order by revenue desc"
    )
    for tables in (f"s3://{bucket}/tpch", f"s3://{bucket}/tpch/", f"s3://{bucket}/tpch/*.parquet"):
        same(hr.sql(query, tables, ranks=ranks), hr.sql(query, tpch_small))


def test_patterns_and_lists(server: StoreServer, bucket: str) -> None:
    keys = ("d/a.parquet", "d/b.parquet", "d/e/c.parquet", "d/e/f/c.parquet", "d/note.txt", "x y+ü.parquet")
    for key in keys:
        _put(server, bucket, key, TABLE)
    counts = {
        "d/*.parquet": 2,
        "d/[ac].parquet": 1,
        "d/*/c.parquet": 1,
        "d/**/c.parquet": 2,
        "d/**/*.parquet": 4,
        "**/c.parquet": 2,
        "**/*.parquet": 5,
        "d/e/**": 2,
        "d": 2,
        "x y+ü.parquet": 1,
    }
    for pattern, files in counts.items():
        found = hr.sql("select count(*) as n from t", {"t": f"s3://{bucket}/{pattern}"}).to_pylist()
        assert found == [{"n": 4 * files}], pattern
    both = [f"s3://{bucket}/d/a.parquet", f"s3://{bucket}/d/e/*.parquet"]
    assert hr.sql("select count(*) as n from t", {"t": both}).to_pylist() == [{"n": 8}]
    assert hr.scan_parquet(f"s3://{bucket}/d/*.parquet").select(hr.col("k").sum()).collect().to_pylist() == [
        {"k": 20}
    ]
    with pytest.raises(errors.InputOutputError, match="no file matches: s3://"):
        hr.sql(f"select * from 's3://{bucket}/nothing/*.parquet'")
    with pytest.raises(errors.InputOutputError, match="no Parquet files in: s3://"):
        hr.sql("select * from t", f"s3://{bucket}/nothing")
    with pytest.raises(errors.InputOutputError, match="no Parquet files in: s3://"):
        hr.sql("select * from t", {"t": f"s3://{bucket}/nothing/"})


def test_a_listing_of_several_answers(server: StoreServer, bucket: str) -> None:
    client = _client(server)
    for i in range(KEYS_OF_LISTING + 5):
        client.put_object(Bucket=bucket, Key=f"many/{i}.txt", Body=b"")
    _put(server, bucket, "many/last.parquet", TABLE)
    assert hr.sql("select count(*) as n from last", f"s3://{bucket}/many").to_pylist() == [{"n": 4}]
    assert sum("list-type" in each.path for each in server.asked) == 2


def test_partitions_are_pruned_before_they_are_read(server: StoreServer, bucket: str) -> None:
    for year in (2022, 2023, 2024):
        _put(server, bucket, f"p/year={year}/x.parquet", TABLE)
    source = f"s3://{bucket}/p/*/*.parquet"
    found = hr.sql(f"select sum(k) as k, max(year) as y from '{source}' where year > 2023")
    assert found.to_pylist() == [{"k": 10, "y": 2024}]
    read = {each.path.partition("?")[0] for each in server.asked if each.range}
    # The first says which columns there are.
    assert read == {f"/{bucket}/p/year%3D2022/x.parquet", f"/{bucket}/p/year%3D2024/x.parquet"}
    query = "select year, count(*) as n from p group by year order by year"
    folder = hr.sql(query, f"s3://{bucket}/p", ranks=2)
    assert folder.to_pylist() == [{"year": year, "n": 4} for year in (2022, 2023, 2024)]


def test_requests_are_few(server: StoreServer, bucket: str) -> None:
    _put(server, bucket, "x.parquet", TABLE)
    hr.sql(f"select count(*) from 's3://{bucket}/x.parquet'")
    first, second = server.asked
    assert (first.method, first.range, second.method) == ("GET", "bytes=0-0", "GET")
    server.forget()
    hr.sql(f"select count(*) + 1 from 's3://{bucket}/*.parquet'")
    assert len(server.asked) == 1  # the listing has the version, which is known


@pytest.mark.parametrize("name", ["x.parquet", "x.csv", "x.arrow"])
def test_what_is_written_is_read_back(server: StoreServer, bucket: str, name: str) -> None:
    address = f"s3://{bucket}/out/{name}"
    assert hr.sql(f"copy t to '{address}'", {"t": TABLE}).to_pylist() == [{"Count": 4}]
    frame = hr.scan_ipc(address) if name == "x.arrow" else None
    same(frame.collect() if frame else hr.sql(f"select * from '{address}'"), TABLE)
    lazy = hr.from_arrow(TABLE)
    {"x.parquet": lazy.sink_parquet, "x.csv": lazy.sink_csv, "x.arrow": lazy.sink_ipc}[name](address)
    assert {each.method for each in server.asked} == {"GET", "PUT"}


def test_large_files_go_in_parts_and_are_there_when_they_are_whole(server: StoreServer, bucket: str) -> None:
    rows = 3_000_000
    table = pa.table({"k": range(rows)})
    address = f"s3://{bucket}/large.parquet"
    hr.sql(f"copy t to '{address}' (compression none)", {"t": table})
    assert sum("partNumber" in each.path for each in server.asked) > 1
    found = hr.sql(f"select count(*) as n, sum(k) as k from '{address}'", ranks=2)
    assert found.to_pylist() == [{"n": rows, "k": rows * (rows - 1) // 2}]

    def fault(asked: Asked, _before: int) -> Fault:
        return 403 if "partNumber=2" in asked.path else None

    server.fault = fault
    with pytest.raises(errors.InputOutputError, match="access is denied"):
        hr.sql(f"copy t to 's3://{bucket}/half.parquet' (compression none)", {"t": table})
    server.fault = lambda _asked, _before: None
    client = _client(server)
    assert [each["Key"] for each in client.list_objects_v2(Bucket=bucket)["Contents"]] == ["large.parquet"]
    assert "Uploads" not in client.list_multipart_uploads(Bucket=bucket)


def test_uploads_are_tried_again(server: StoreServer, bucket: str) -> None:
    server.fault = lambda _asked, before: 503 if before < 2 else None
    hr.sql(f"copy t to 's3://{bucket}/x.parquet'", {"t": TABLE})
    same(hr.sql(f"select * from 's3://{bucket}/x.parquet'"), TABLE)


def test_what_cannot_be_written_is_told(server: StoreServer, bucket: str) -> None:
    with pytest.raises(errors.UserError, match="the address of a file needs a bucket and a key, got: s3://"):
        hr.sql(f"copy t to 's3://{bucket}/' (format parquet)", {"t": TABLE})
    with pytest.raises(errors.InputOutputError, match="no such bucket: s3://none/x.parquet"):
        hr.sql("copy t to 's3://none/x.parquet'", {"t": TABLE})


FOLDER = pa.concat_tables(
    [pa.table({"k": range(at, at + 100), "p": [i % 3 for i in range(100)]}) for at in range(0, 3000, 100)]
)


def _keys(server: StoreServer, bucket: str) -> list[str]:
    assert "Uploads" not in _client(server).list_multipart_uploads(Bucket=bucket)
    return [each["Key"] for each in _client(server).list_objects_v2(Bucket=bucket).get("Contents", ())]


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_folders_are_written_by_all_ranks(server: StoreServer, bucket: str, format: str, ranks: int) -> None:
    folder = f"s3://{bucket}/a b/d"
    options = f"(format {format}, per_thread_output)"
    found = hr.sql(f"copy t to '{folder}' {options}", {"t": FOLDER}, ranks=ranks)
    assert found.to_pylist() == [{"Count": 3000}]
    assert _keys(server, bucket) == [f"a b/d/part-{rank:05}-00000.{format}" for rank in range(ranks)]
    same(hr.sql(f"from '{folder}/*.{format}'"), FOLDER)
    text = f"copy t to '{folder}/' (format {format}, per_thread_output"
    with pytest.raises(errors.UserError, match="the folder of the output is there already, remove it first"):
        hr.sql(f"{text})", {"t": FOLDER})
    hr.sql(
        f"copy (select k, p from t where k < 0) to 's3://{bucket}/none/' {options}",
        {"t": FOLDER},
        ranks=ranks,
    )
    assert _keys(server, bucket)[ranks:] == [f"none/part-00000-00000.{format}"]


def test_partitions_are_written_by_all_ranks(server: StoreServer, bucket: str) -> None:
    folder = f"s3://{bucket}/d"
    hr.sql(f"copy t to '{folder}' (format parquet, partition_by p)", {"t": FOLDER}, ranks=2)
    assert {key.split("/")[1] for key in _keys(server, bucket)} == {"p=0", "p=1", "p=2"}
    assert {key.split("/")[2][:10] for key in _keys(server, bucket)} <= {"part-00000", "part-00001"}
    same(hr.sql("select k, p from d", {"d": folder}), FOLDER)


def _refused(method: str, key: str) -> Any:
    def fault(asked: Asked, _before: int) -> Fault:
        return 403 if asked.method == method and key in asked.path else None

    return fault


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_of_a_folder_nothing_stays(server: StoreServer, bucket: str, method: str, ranks: int) -> None:
    server.fault = _refused(method, "part-00001")
    with pytest.raises(errors.InputOutputError, match="access is denied"):
        hr.sql(f"copy t to 's3://{bucket}/d' (format parquet, per_thread_output)", {"t": FOLDER}, ranks=ranks)
    server.fault = lambda _asked, _before: None
    assert _keys(server, bucket) == []


def test_files_that_are_not_put_together_are_given_up(server: StoreServer, bucket: str) -> None:
    """Those before are there: a store has no step for several files."""

    def fault(asked: Asked, _before: int) -> Fault:
        return (
            403
            if asked.method == "POST" and "part-00001" in asked.path and "uploadId" in asked.path
            else None
        )

    server.fault = fault
    with pytest.raises(errors.InputOutputError, match="access is denied"):
        hr.sql(f"copy t to 's3://{bucket}/d' (format csv, per_thread_output)", {"t": FOLDER}, ranks=3)
    server.fault = lambda _asked, _before: None
    assert _keys(server, bucket) == ["d/part-00000-00000.csv"]


@pytest.mark.alone
def test_ranks_in_processes_write_a_folder(server: StoreServer, bucket: str) -> None:
    """What they have uploaded is put together by the driver, or nothing of it stays."""
    engine = Processes(3)
    try:
        with driver.Driver(driver.RemoteRanks(engine, {"threads": "1"}), "shrink"):
            server.fault = _refused("PUT", "part-00001")
            for folder in ("failed", "d"):
                text = f"copy t to 's3://{bucket}/{folder}' (format parquet, per_thread_output)"
                if folder == "failed":
                    with pytest.raises(errors.InputOutputError, match="rank 1 on host .*access is denied"):
                        hr.sql(text, {"t": FOLDER})
                    server.fault = lambda _asked, _before: None
                    assert _keys(server, bucket) == []
                else:
                    assert hr.sql(text, {"t": FOLDER}).to_pylist() == [{"Count": 3000}]
        assert _keys(server, bucket) == [f"d/part-{rank:05}-00000.parquet" for rank in range(3)]
        same(hr.sql(f"from 's3://{bucket}/d/*.parquet'"), FOLDER)
    finally:
        engine.end()


def test_folders_that_cannot_be_written_are_told(server: StoreServer, bucket: str) -> None:
    for where, message in {
        f"s3://{bucket}/": "a folder of files is written to a path or to s3://BUCKET/FOLDER, got: s3://",
        f"{server.url}/x": "a folder of files is written to a path or to s3://BUCKET/FOLDER, got: http://",
        f"s3://{bucket}/new": "overwrite replaces a folder of this machine, not of a store: s3://",
    }.items():
        with pytest.raises(errors.UserError, match=message):
            hr.sql(f"copy t to '{where}' (format csv, per_thread_output, overwrite)", {"t": TABLE})


def test_what_is_not_there_is_told(server: StoreServer, bucket: str) -> None:
    for where, message in {
        f"s3://{bucket}/none.parquet": "no such file: s3://",
        "s3://none/x.parquet": "no such bucket: s3://none",
        "s3://none/*.parquet": "no such bucket: s3://none",
    }.items():
        with pytest.raises(errors.InputOutputError, match=message):
            hr.sql(f"select * from '{where}'")
    server.fault = lambda _asked, _before: 403
    with pytest.raises(errors.InputOutputError, match=r"access is denied \(403 Injected\): s3://"):
        hr.sql(f"select * from 's3://{bucket}/x.parquet'")


def test_options_of_addresses(server: StoreServer, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _put(server, bucket, "x.parquet", TABLE)
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    host = server.url.removeprefix("http://")
    full = f"endpoint_override={host}&scheme=http&region=us-east-1"
    for options in (f"endpoint_override={server.url}", full):
        same(hr.sql(f"select * from 's3://{bucket}/x.parquet?{options}'"), TABLE)
        same(hr.sql("select * from x", f"s3://{bucket}/*.parquet?{options}"), TABLE)
    server.forget()
    hr.sql(f"select sum(k) from 's3://{bucket}/x.parquet?endpoint_override={server.url}&anonymous=true'")
    assert not any("Authorization" in each.headers for each in server.asked)
    with pytest.raises(errors.UserError, match="the options of an s3 address are region") as wrong:
        hr.sql(f"select * from 's3://{bucket}/x.parquet?secret_key=hidden'")
    assert "hidden" not in str(wrong.value)
    with pytest.raises(errors.UserError, match="credentials do not belong into an address") as wrong:
        hr.sql("select * from 's3://id:hidden@bucket/x.parquet'")
    assert "hidden" not in str(wrong.value)
    with pytest.raises(errors.UserError, match="credentials do not belong into the endpoint") as wrong:
        hr.sql("select * from 's3://bucket/x.parquet?endpoint_override=http://id:hidden@host'")
    assert "hidden" not in str(wrong.value)


def test_another_region_is_told(bucket: str, server: StoreServer) -> None:
    def spoil(_asked: Asked, _before: int) -> Fault:
        return "elsewhere"

    server.fault = spoil
    with pytest.raises(errors.InputOutputError, match="in another region, set AWS_REGION .* to eu-west-9"):
        hr.sql(f"select * from 's3://{bucket}/x.parquet'")


def test_signatures(server: StoreServer, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """moto checks them by botocore's own, if keys have no characters that it encodes otherwise."""
    _put(server, bucket, "a b.parquet", TABLE)
    user = _client(server, "iam")
    user.create_user(UserName="u")
    policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
    user.put_user_policy(UserName="u", PolicyName="p", PolicyDocument=json.dumps(policy))
    key = user.create_access_key(UserName="u")["AccessKey"]
    _reset_auth(server, "0")
    try:
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", key["AccessKeyId"])
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", key["SecretAccessKey"])
        same(hr.sql(f"select * from 's3://{bucket}/a b.parquet'"), TABLE)
        same(hr.sql(f"select k, t from 's3://{bucket}/a b*.parquet'"), TABLE)
        hr.sql(f"copy t to 's3://{bucket}/y.parquet'", {"t": TABLE})
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
        with pytest.raises(
            errors.InputOutputError, match="access is denied .*SignatureDoesNotMatch"
        ) as wrong:
            hr.sql(f"select * from 's3://{bucket}/y.parquet'")
        assert key["AccessKeyId"] not in str(wrong.value)
    finally:
        _reset_auth(server, "inf")


def _reset_auth(server: StoreServer, count: str) -> None:
    import urllib.request

    request = urllib.request.Request(
        f"{server.url}/moto-api/reset-auth", count.encode(), {"Content-Type": "text/plain"}, method="POST"
    )
    with urllib.request.urlopen(request) as answer:
        assert answer.status == 200


def _signer(server: StoreServer) -> set[str]:
    """Which keys the requests were signed with."""
    found = {each.headers.get("Authorization", "none") for each in server.asked if "/x.parquet" in each.path}
    return {each.partition("Credential=")[2].partition("/")[0] for each in found}


def test_where_credentials_come_from(
    server: StoreServer, bucket: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _put(server, bucket, "x.parquet", TABLE)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"):
        monkeypatch.delenv(name)

    def ask() -> set[str]:
        server.forget()
        hr.sql(f"select sum(k) from 's3://{bucket}/x.parquet'")
        return _signer(server)

    assert ask() == {""}
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "credentials").write_text(
        "[default]\naws_access_key_id = of_profile\naws_secret_access_key = x\n"
        "# another\n[p]\naws_access_key_id=of_p\n"
    )
    (tmp_path / ".aws" / "config").write_text("[profile p]\nregion = eu-west-1\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / ".aws" / "config"))
    assert ask() == {"of_profile"}
    monkeypatch.setenv("AWS_PROFILE", "p")
    assert ask() == {"of_p"}
    assert all("/eu-west-1/s3/" in each.headers["Authorization"] for each in server.asked)
    monkeypatch.setenv("AWS_PROFILE", "missing")
    with pytest.raises(errors.UserError, match="the profile of AWS_PROFILE has no access key .*: missing"):
        ask()
    monkeypatch.delenv("AWS_PROFILE")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    given = {"AccessKeyId": "of_container", "SecretAccessKey": "x", "Token": "y"}
    given["Expiration"] = "2100-01-01T00:00:00Z"
    with serving() as giver:
        url = giver.put("/credentials", json.dumps(given).encode())
        monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", url)
        monkeypatch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "for me")
        assert ask() == {"of_container"}
        assert {each.headers["Authorization"] for each in giver.asked} == {"for me"}
        assert {each.headers.get("x-amz-security-token") for each in server.asked} == {"y"}
        assert ask() == {"of_container"}
        assert len(giver.asked) == 1  # it does not expire soon
        monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{giver.url}/none")
        with pytest.raises(errors.InputOutputError, match="the container's service of credentials gives"):
            ask()
        monkeypatch.delenv("AWS_CONTAINER_CREDENTIALS_FULL_URI")
        role = "/latest/meta-data/iam/security-credentials/"
        giver.put("/latest/api/token", b"token of a session")
        giver.put(role, b"the-role")
        giver.put(f"{role}the-role", json.dumps({**given, "AccessKeyId": "of_instance"}).encode())
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "false")
        monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", giver.url)
        assert ask() == {"of_instance"}
        identity = tmp_path / "identity"
        monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(identity))
        monkeypatch.setenv("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/r")
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", server.url)
        with pytest.raises(errors.InputOutputError, match="cannot read the token for AWS"):
            ask()
        identity.write_text("a token")
        (signer,) = ask()
        assert signer not in ("", "of_instance")  # moto's service of tokens made one
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", giver.url)
        monkeypatch.setenv("AWS_ROLE_ARN", "another")
        with pytest.raises(errors.InputOutputError, match="tokens gives no credentials, it answers 404"):
            ask()


def test_without_credentials_an_error_says_so(
    server: StoreServer, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    server.fault = lambda _asked, _before: 403
    with pytest.raises(errors.InputOutputError, match="there are no credentials, which AWS_ACCESS_KEY_ID"):
        hr.sql(f"select * from 's3://{bucket}/x.parquet'")


@pytest.mark.parametrize("flags", [["--ranks", "2"], ["--ranks", "2", "--processes"]])
def test_a_plan_reads_by_its_addresses(
    server: StoreServer, bucket: str, tmp_path: Path, flags: list[str]
) -> None:
    _put(server, bucket, "x.parquet", TABLE)
    plan = tmp_path / "q.plan"
    compile_to(plan, f"select sum(k) as k from 's3://{bucket}/x.parquet'", {}, ranks=2)
    run = subprocess.run(
        [tools.path("headrace-run"), plan, *flags], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert "10" in run.stdout
    assert "very secret" not in "".join(path.read_bytes().decode(errors="ignore") for path in plan.iterdir())
    _put(server, bucket, "x.parquet", TABLE.slice(1))
    run = subprocess.run(
        [tools.path("headrace-run"), plan, *flags], capture_output=True, text=True, check=False
    )
    assert "the file has changed since the plan was compiled, recompile: s3://" in run.stderr
