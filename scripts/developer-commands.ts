/**
 * Commands for those who change Troupe, `npm run NAME`, with what each does. `docs/commands.md` is made from this table and
 * that of `troupe`.
 */
export const developerCommands: Readonly<Record<string, string>> = {
  check:
    'checks types, lint, format, regular expressions (by attacking them), layers, dependencies between capabilities, sizes of folders and files, names, docstrings, words, citations, decisions, pages of folders, generated files, native binaries, duplicates, pairs of writes that a kill would leave half done',
  'check:quick':
    'most of `check` in less than a minute: types, lint and all rules, without generated files, the types of the console and attacked patterns',
  test: 'runs all tests; `npm test -- <part of a path>` runs some',
  generate:
    'writes the files that follow from declarations, machines and decisions; `-- --check` lists stale ones, `-- --anew` also lays out charts that are as recorded',
  format: 'formats the code',
  bench:
    'measures Troupe against a raw implementation; `-- --only turns,storage --secs 8` measures some sections (`-- --help` lists them), `-- --only recall,calibration,knowledge,web,updates,screening,skills --sets FOLDER` reads data sets, `-- --whole` runs every section briefly to check that it works',
  clients:
    'lints the served OpenAPI document, generates a client from it with each code generator, compiles it, and runs a turn with it; also runs SDKs for JavaScript (each major on Node 20, 22 and 24), Python (each major on the newest and the oldest Python), Go, Java and Rust, agent frameworks, an app of Next, and our own client on Node 20, 22 and 24, Bun, Deno and workerd; `-- --only openai@6.49.0` runs one, `-- --quick` those that install in seconds, of which CI runs a third at each commit (`--every 3`) if what they test has changed',
  'mcp-conformance':
    'runs the official conformance suite of the Model Context Protocol against a running server, through its API and sign-in links: every client scenario that 2025-11-25 and 2026-07-28 require; `-- --only scope` runs some, `-- --every 3` a third at each commit, as CI does',
  'mcp-conformance-server': 'runs the scenarios of that suite for our own MCP server',
  schemathesis:
    'tests a running server against its OpenAPI document with generated valid and invalid requests, reproducibly; `-- --secs 300` explores for 300 seconds',
  simulate:
    'runs the runtime with 2,000 seeds in a simulation of crashes and lost responses; `--scenario runs`, `--nodes 3` for a cluster, `--compaction` merges deltas at the same time, `--seed N` reproduces one trace',
  chaos:
    'runs three real nodes under load while processes are killed, paused and partitioned: `-- --minutes 2`, `--seed N`, `--nodes 3`, `--only kill,pause`; `--replicas 3 --only mongod,redis` kills the primary of a replica set, and no turn may be interrupted; `--streams 50 --kills 20` kills a process while 50 turns, background responses and runs are answered, on three nodes or with `--nodes 1` on SQLite, and judges what their readers received: SSE, EventSource and WebSocket, with restarts and without, `response.*` events and those of runs',
  soak: 'runs one server under a steady load (`-- --minutes 60 --rate 20`); memory, handles, open commits, bytes on disk per turn and p99 must not grow by more than 10 % (memory and p99 are judged only in runs of half an hour or more; `TMPDIR=/dev/shm` keeps slow disks out)',
  'browser-jobs':
    'runs many browser jobs on one server (`-- --jobs 1000`): none may fail, submit a form twice or leave a process behind',
  image:
    'builds the image in a chroot from the lines of the Dockerfile (Debian, root, no Docker), and runs the quickstart, the tools and a browser job in it',
  chart:
    'lints the Helm chart with Helm, and compares what it renders with `deploy/kubernetes`, whose manifests it validates; `-- --write` writes them and records what was checked. Builds Helm from its Go module once; CI runs it if what it checks is not as recorded (`-- --if-changed`)',
  platforms:
    'installs the platform-specific dependencies of four other platforms, and compares the hash of the native server with the recorded one',
  nightly:
    'runs what takes too long for every change: simulations, chaos, long schemathesis, all tests on both stores, every client, the conformance suite, browser jobs, an hour of soak, bench; `-- chaos` runs one of them',
  'record-calls':
    'runs tests and records which operations they called, for `specs/coverage.md`; `-- <part of a path>` runs some',
  'record-histories':
    'records the histories of actors under new machine versions; use `-- --again` only while a version is unreleased',
  picture:
    'records the pictures of `docs` from real runs: `turn.webp`, a turn that is killed, resumed and approved, the pages of the console, and the quickstart in a terminal; `-- --only turn` records one',
}
