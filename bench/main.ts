import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { namesOption, positiveOption, readCommandLine, refuseCommandLine } from '#src/start/command-line.ts'
import { startMongod } from '../scripts/services/mongod.ts'
import { benchCalibration } from './calibration.ts'
import { benchClients } from './clients/bench-clients.ts'
import { benchCluster } from './cluster.ts'
import { benchConsole } from './console.ts'
import { isForBeingWhole, sized } from './extent.ts'
import { benchGateways } from './gateway/beside-others.ts'
import { benchGateway, benchGatewayAlone, benchGatewayChecks, benchGatewayVoice } from './gateway.ts'
import { benchGraph } from './graph.ts'
import { benchKnowledge } from './knowledge.ts'
import { benchLongLists } from './lists/long-lists.ts'
import { benchLists } from './lists.ts'
import { benchMemory } from './memory.ts'
import { benchRemembering } from './memory-sets/remembering.ts'
import { benchScreening } from './memory-sets/screening.ts'
import { benchUpdates } from './memory-sets/updates.ts'
import { benchMillion } from './million.ts'
import { benchProvider } from './provider.ts'
import { benchVectors } from './recall/nearest-vectors.ts'
import { benchRecall } from './recall.ts'
import { benchRecovery } from './recovery.ts'
import { holds, type Row, tableOf } from './row.ts'
import { benchRuns } from './runs.ts'
import { benchRuntime } from './runtime.ts'
import { benchStreams } from './sessions/streams.ts'
import { benchSessions } from './sessions.ts'
import { benchSkills } from './skills/blocked.ts'
import { benchSse } from './sse.ts'
import { benchStorage } from './storage.ts'
import { benchTurns } from './turns.ts'
import { benchManyPages } from './web/many/many-pages.ts'
import { benchIndexes } from './web/page-indexes.ts'
import { benchWeb } from './web.ts'
import { benchWriteback } from './writeback.ts'

/**
 * `npm run bench [-- --only turns,storage --secs 8]`: measures Troupe and its alternatives in one run, prints one table
 * and stores it as bench/results/<time>.json. Exit code 1 when a bound is missed or a section fails. `--whole` only
 * runs every section for seconds, to check that it still works.
 */
interface Options {
  readonly seconds: number
  /** Folder of public data sets; they are read in place and never shipped. */
  readonly sets: string | null
  /** Model that reviews skills; null for none. */
  readonly review: string | null
  /** Whether sections take measurements of minutes too. */
  readonly long: boolean
  /** Sessions that the section lists fills a database with, in addition, and pages of the section pages; null for none. */
  readonly rows: number | null
  /** Folder in which the section pages goes on in each run; null for one of the run. */
  readonly folder: string | null
  /** Time for which the section pages works in a run; null for any. */
  readonly minutes: number | null
}

type Section = (options: Options) => Promise<readonly Row[]>

const sections: Readonly<Record<string, Section>> = {
  turns: benchTurns,
  provider: benchProvider,
  gateway: benchGateway,
  'gateway-alone': benchGatewayAlone,
  'gateway-checks': benchGatewayChecks,
  'gateway-voice': benchGatewayVoice,
  gateways: benchGateways,
  runtime: benchRuntime,
  recovery: benchRecovery,
  runs: benchRuns,
  sse: benchSse,
  storage: storageOnItsOwnMongod,
  lists: async ({ rows }) => (rows === null ? benchLists() : benchLongLists(rows)),
  cluster: benchCluster,
  clients: benchClients,
  console: benchConsole,
  sessions: benchSessions,
  streams: benchStreams,
  recall: ({ sets }) => benchRecall(sets),
  calibration: ({ sets }) => benchCalibration(sets),
  memory: benchMemory,
  graph: benchGraph,
  writeback: benchWriteback,
  million: benchMillion,
  knowledge: ({ sets }) => benchKnowledge(sets),
  web: ({ sets }) => benchWeb(sets),
  indexes: benchIndexes,
  pages: benchManyPages,
  vectors: benchVectors,
  updates: ({ sets }) => benchUpdates(sets),
  remember: ({ sets }) => benchRemembering(sets),
  screening: ({ sets }) => benchScreening(sets),
  skills: benchSkills,
}

const known = Object.keys(sections)
const usage = [
  'usage: npm run bench -- [--only SECTION,…] [--secs 8] [--sets FOLDER] [--review MODEL] [--rows N] [--folder FOLDER] [--minutes N] [--long] [--whole]',
  '',
  'Measures sections against a raw implementation in the same run, prints a table and writes bench/results/TIME.json.',
  'Exits with 1 if a bound is missed or a section fails. --whole runs the sections for a few seconds and measures nothing.',
  '--long adds measurements that take minutes: 1,000 streams at once, three nodes, a pool of keys that fail, and short-lived tokens for ten minutes.',
  '--rows 5000000 has the section lists measure every declared list on MongoDB with that many sessions.',
  '--only pages --rows 1000000 --folder FOLDER --minutes 40 makes that many pages in LanceDB and measures them; the next run with the same folder goes on.',
  '--sets is a folder of public sets, which the sections recall, calibration, knowledge, web, updates, remember, screening and skills read.',
  '--review is a model by which the section skills has its drafts reviewed too, with a key in the environment: OPENAI_API_KEY=… --review openai/gpt-5-mini.',
  `Sections: ${known.join(', ')}`,
].join('\n')
const text = { type: 'string' } as const
const values = readCommandLine({
  usage,
  options: {
    only: text,
    secs: text,
    sets: text,
    review: text,
    rows: text,
    folder: text,
    minutes: text,
    long: { type: 'boolean' },
    whole: { type: 'boolean' },
  },
})
const seconds = sized(positiveOption(usage, 'secs', values.secs ?? '8'), 0.3)
const chosen = values.only === undefined ? known : namesOption({ usage, name: 'only', known }, values.only)
if (values.sets !== undefined && !existsSync(values.sets))
  refuseCommandLine(usage, `--sets: there is no folder ${values.sets}`)
const measured: Record<string, readonly Row[]> = {}
const broken: string[] = []

for (const name of chosen) {
  console.error(`measuring ${name} …`)
  try {
    measured[name] =
      (await sections[name]?.({
        seconds,
        sets: values.sets ?? null,
        review: values.review ?? null,
        long: values.long ?? false,
        rows: values.rows === undefined ? null : positiveOption(usage, 'rows', values.rows),
        folder: values.folder ?? null,
        minutes: values.minutes === undefined ? null : positiveOption(usage, 'minutes', values.minutes),
      })) ?? []
  } catch (error) {
    broken.push(name)
    console.error(`${name} failed:`, error)
  }
}

const load = loadavg()[0] ?? 0
console.log(tableOf(measured))
console.log(`\n${cpus().length} cores, load ${load.toFixed(1)}, node ${process.version}`)
for (const name of broken) console.log(`FAILED ${name}`)
if (!isForBeingWhole) keepResults()
const missed = Object.values(measured)
  .flat()
  .filter((row) => (isForBeingWhole ? !isWhole(row) : holds(row) === false))
process.exit(broken.length + missed.length === 0 ? 0 : 1)

async function storageOnItsOwnMongod(): Promise<readonly Row[]> {
  const mongod = await startMongod()
  try {
    return await benchStorage(mongod.url)
  } finally {
    await mongod.stop()
  }
}

/**
 * Whether the row has a value. A bound of 0 must hold too: what must never happen must not happen in a short run
 * either.
 */
function isWhole(row: Row): boolean {
  return Number.isFinite(row.ours) && (row.bound?.atMost !== 0 || holds(row) === true)
}

function keepResults(): void {
  const at = new Date().toISOString()
  const folder = join(import.meta.dirname, 'results')
  mkdirSync(folder, { recursive: true })
  const results = { at, node: process.version, cores: cpus().length, load, sections: measured }
  writeFileSync(join(folder, `${at.replaceAll(':', '-')}.json`), `${JSON.stringify(results, null, 2)}\n`)
}
