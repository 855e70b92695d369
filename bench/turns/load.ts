import { readFileSync } from 'node:fs'

/**
 * Drives turns in a closed loop: each worker has its own session and sends its next turn when the last one has ended.
 * Runs as a separate process, so that its CPU time does not count as the server's. Prints one `Measured` as JSON.
 *
 * `node bench/turns/load.ts '{"target":"floor","nodes":[{"url":"http://…","pid":1}],"workers":64,"seconds":8}'`
 */
export interface LoadOrder {
  readonly target: 'floor' | 'ours' | 'restate'
  /** Nodes over which the workers are spread. */
  readonly nodes: readonly { readonly url: string; readonly pid: number }[]
  /** Processes that the nodes need, whose CPU time counts too. */
  readonly behind?: readonly { readonly pid: number }[]
  /** Where the turns of a session go: to the node that created it, to the one after that, or each to another node. */
  readonly route?: 'own' | 'next' | 'any'
  /** Secret key, for `ours`. */
  readonly key: string
  readonly workers: number
  readonly seconds: number
}

/** Results of one load. Times in ms. */
export interface Measured {
  readonly turns: number
  readonly errors: number
  readonly firstError: string | null
  readonly turnsPerSecond: number
  readonly p50: number
  readonly p99: number
  /** Of all nodes together; CPU time in ms. */
  readonly cpuPerTurn: number
  readonly rssMb: number
}

type SendTurn = (turn: number) => Promise<string>

const clockTicksPerSecond = 100
const order: LoadOrder = JSON.parse(process.argv[2] ?? '')
const run = `run-${process.pid}`
const processes = [...order.nodes, ...(order.behind ?? [])]
const ending = order.target === 'restate' ? '[DONE]' : 'event: turn.completed'
const times: number[] = []
const errors: string[] = []

const senders = await Promise.all(Array.from({ length: order.workers }, (_, worker) => openSession(worker)))
const cpuBefore = cpuMs()
const startedAt = performance.now()
await Promise.all(senders.map(drive))
const seconds = (performance.now() - startedAt) / 1000
times.sort((a, b) => a - b)
const measured: Measured = {
  turns: times.length,
  errors: errors.length,
  firstError: errors[0] ?? null,
  turnsPerSecond: times.length / seconds,
  p50: quantile(0.5),
  p99: quantile(0.99),
  cpuPerTurn: (cpuMs() - cpuBefore) / times.length,
  rssMb: rssMb(),
}
console.log(JSON.stringify(measured))
process.exit(0)

async function drive(send: SendTurn): Promise<void> {
  const end = startedAt + order.seconds * 1000
  for (let turn = 0; performance.now() < end; turn++) {
    const sentAt = performance.now()
    try {
      const stream = await send(turn)
      if (!stream.includes(ending)) throw new Error(`the turn did not complete: ${stream.slice(-200)}`)
      times.push(performance.now() - sentAt)
    } catch (error) {
      errors.push(error instanceof Error ? `${error.message} ${error.cause ?? ''}` : String(error))
    }
  }
}

async function openSession(worker: number): Promise<SendTurn> {
  if (order.target === 'floor') {
    const session = `${run}-${worker}`
    return (turn) => post(nodeAt(worker), '/turn', JSON.stringify({ session, turn, text: `hello ${turn}` }))
  }
  if (order.target === 'restate') return () => post(nodeAt(worker), `/turns/${run}-${worker}`, '{}')
  const created: { id: string } = JSON.parse(await post(nodeAt(worker), '/v1/sessions', '{}'))
  const path = `/v1/sessions/${created.id}/turns`
  const hops = { own: () => 0, next: () => 1, any: (turn: number) => turn }[order.route ?? 'own']
  return (turn) =>
    post(nodeAt(worker + hops(turn)), path, JSON.stringify({ input: `hello ${turn}`, model: 'gpt-4o-mini' }))
}

function nodeAt(place: number): string {
  return order.nodes[place % order.nodes.length]?.url ?? ''
}

async function post(url: string, path: string, body: string): Promise<string> {
  const headers = { authorization: `Bearer ${order.key}`, 'content-type': 'application/json' }
  const response = await fetch(url + path, { method: 'POST', headers, body })
  const text = await response.text()
  if (!response.ok) throw new Error(`${response.status} ${text.slice(0, 200)}`)
  return text
}

function quantile(part: number): number {
  return times[Math.min(times.length - 1, Math.floor(part * times.length))] ?? Number.NaN
}

function cpuMs(): number {
  return processes.reduce((sum, { pid }) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return sum + ((Number(fields[11]) + Number(fields[12])) * 1000) / clockTicksPerSecond
  }, 0)
}

function rssMb(): number {
  return processes.reduce((sum, { pid }) => {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return sum + Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024
  }, 0)
}
