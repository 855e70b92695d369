import { pino } from 'pino'
import { IndexBound } from '#retrieval/index.ts'
import { systemClock } from '#runtime/clock.ts'
import { PlacedWork } from '#runtime/internal.ts'
import { webKinds } from '#src/actors/web/kinds.ts'
import { corpusServer, corpusService, placedSearch } from '#src/actors/web/search/corpus-search.ts'
import { PageIndexes } from '#src/actors/web/search/page-indexes.ts'
import { PageStore } from '#src/actors/web/store/page-store.ts'
import { openPeerServer } from '#src/transport/peers/open-peer-server.ts'
import { openPeers } from '#src/transport/peers/open-peers.ts'
import type { Storage } from '#storage/index.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { PlacedNodes } from '#test/support/placed-nodes.ts'
import { sized } from '../extent.ts'
import { median, type Row } from '../row.ts'
import { madePage, urlOf, word } from './made-pages.ts'

const pagesEach = 8
const nodes = 3
/** How many times the indexes of all projects are what a node may keep. */
const corpusOfBound = 4

const searchOf = (project: string) => ({
  ...{ project, corpus: 'project' as const, text: `${word()} ${word()}`, vector: null, embedder: null, limit: 10 },
  ...{ filter: null, diverse: true, explain: false, now: Date.now(), isExact: false },
})

/** Draws projects: the nth is searched in proportion to 1/n. */
const zipf = (projects: readonly string[]) => {
  const weights = projects.map((_, n) => 1 / (n + 1))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  let state = 11
  return (): string => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    let left = (state / 2 ** 32) * total
    const at = weights.findIndex((weight) => {
      left -= weight
      return left <= 0
    })
    return projects[at] ?? projects[0] ?? ''
  }
}

const filled = async (projects: readonly string[]): Promise<Storage> => {
  const storage = openMemoryStorage()
  await storage.records.prepare(webKinds)
  const store = new PageStore(storage.records, storage.blobs, { now: Date.now })
  for (const project of projects) {
    for (let n = 0; n < pagesEach; n++) await store.save(project, urlOf(n), madePage(n, pagesEach))
    await store.changed(project)
  }
  return storage
}

/** A node whose reads of segments are counted. */
const nodeOn = ({ records, blobs }: Storage, maxBytes?: number) => {
  const counted = { loads: 0 }
  const bytes: typeof blobs.bytes = (project, name) => {
    if (name.endsWith('.documents.0')) counted.loads++
    return blobs.bytes(project, name)
  }
  const store = new PageStore(records, { ...blobs, bytes }, { now: Date.now })
  const indexes = new PageIndexes({ store, clock: systemClock, bound: new IndexBound(maxBytes) })
  return { indexes, counted }
}

/** Searches of many projects at three nodes, each at any of them. */
const searched = async (storage: Storage, { projects, maxBytes, isPlaced }: Searched) => {
  const together = new PlacedNodes()
  const three = Array.from({ length: nodes }, () => {
    const node = nodeOn(storage, maxBytes)
    const placed = isPlaced ? together.join() : new PlacedWork(systemClock)
    placed.serve(corpusService, corpusServer(node.indexes))
    return { ...node, placed }
  })
  const draw = zipf(projects)
  const searches = sized(3_000, 100)
  let before = 0
  const loads = (): number => three.reduce((sum, { counted }) => sum + counted.loads, 0)
  const times: number[] = []
  const from = process.cpuUsage()
  for (let n = 0; n < 2 * searches; n++) {
    if (n === searches) before = loads()
    const node = three[n % nodes]
    const startedAt = performance.now()
    if (node !== undefined) await node.placed.run(placedSearch(node.indexes, searchOf(draw())))
    times.push(performance.now() - startedAt)
  }
  const { user, system } = process.cpuUsage(from)
  const bytes = three.reduce((sum, { indexes }) => sum + indexes.bytes, 0)
  return {
    hits: 1 - (loads() - before) / searches,
    cpu: (user + system) / 1_000 / (2 * searches),
    ...{ bytes, ms: median(times) },
  }
}

interface Searched {
  readonly projects: readonly string[]
  readonly maxBytes: number
  readonly isPlaced: boolean
}

/** What a search costs that is sent to another node over TLS, beside one that is not; both nodes are in this process. */
const hop = async (storage: Storage, project: string) => {
  const [key, log] = [new Uint8Array(32).fill(1), pino({ level: 'silent' })]
  const [there, here] = [new PlacedWork(systemClock), new PlacedWork(systemClock)]
  const [owner, sender] = [nodeOn(storage), nodeOn(storage)]
  there.serve(corpusService, corpusServer(owner.indexes))
  const server = await openPeerServer({
    ...{ host: '127.0.0.1', port: 0, key, log },
    service: async (request) => ({
      kind: 'said',
      said: request.kind === 'task' ? await there.answer(request) : null,
    }),
  })
  const peers = openPeers({ key, log })
  const cost = async () => {
    const times: number[] = []
    const from = process.cpuUsage()
    for (let n = 0; n < 500; n++) {
      const startedAt = performance.now()
      await here.run(placedSearch(sender.indexes, searchOf(project)))
      times.push(performance.now() - startedAt)
    }
    const { user, system } = process.cpuUsage(from)
    return { ms: median(times), cpu: (user + system) / 1_000 / 500 }
  }
  await cost()
  const alone = await cost()
  here.places = () => [{ process: 'owner', request: (request) => peers.request(server.address, request) }]
  await cost()
  const sent = await cost()
  peers.close()
  await server.close()
  return { alone, sent }
}

/**
 * Measures searches of more projects than a node keeps indexes of, at three nodes that keep each for itself and at three
 * that share them, and what sending a search costs.
 */
export async function benchPlacedIndexes(): Promise<readonly Row[]> {
  const projects = Array.from({ length: sized(400, 20) }, (_, n) => `prj_${n}`)
  const storage = await filled(projects)
  // the memory of an index grows with the words that are searched
  const { bytes } = await searched(storage, { projects, maxBytes: Number.POSITIVE_INFINITY, isPlaced: true })
  const maxBytes = Math.ceil(bytes / corpusOfBound)
  const own = await searched(storage, { projects, maxBytes, isPlaced: false })
  const placed = await searched(storage, { projects, maxBytes, isPlaced: true })
  const { alone, sent } = await hop(storage, projects[0] ?? '')
  const of = `${projects.length} projects, ${corpusOfBound} times a node's bound, Zipf 1.0, 3 nodes`
  const row = (measure: string, unit: string, ours: number, value: number): Row => ({
    ...{ measure: `${measure}, ${of}`, unit, ours, against: { name: 'each for itself', value } },
  })
  return [
    { ...row('searches that read no segment', '', placed.hits, own.hits), bound: { of: 'ours', atLeast: 0.9 } },
    row('memory of all nodes', 'MB', placed.bytes / 1e6, own.bytes / 1e6),
    row('a search: CPU', 'ms', placed.cpu, own.cpu),
    row('a search', 'ms', placed.ms, own.ms),
    { ...hopRow('a search that is sent to another node: both CPU', sent.cpu, alone.cpu) },
    { ...hopRow('a search that is sent to another node', sent.ms, alone.ms) },
  ]
}

const hopRow = (measure: string, ours: number, value: number): Row => ({
  ...{ measure: `${measure}, ${pagesEach} pages`, unit: 'ms', ours, against: { name: 'here', value } },
})
