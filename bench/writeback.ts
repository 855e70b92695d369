import { startServer } from '../scripts/services/server.ts'
import type { Service } from '../scripts/services/service.ts'
import { sized } from './extent.ts'
import { cpuMsOf } from './recall/process-cpu.ts'
import { median, type Row } from './row.ts'
import { modelEnv, startScript } from './turns.ts'

const key = `csk_${'w'.repeat(40)}`
const turns = sized(100, 5)
const rounds = sized(3, 1)
const settleMs = 50
const said = [
  'Could you explain once more how the second step of the plan works, and why it comes first?',
  'I moved to Lisbon with my sister last week, and we are still looking for a table.',
  'Please give me three ideas for dinner on Friday.',
  'My favourite tea is the smoked one from the shop at the harbour.',
  'Thanks! That was what I looked for.',
]

/**
 * Measures a server's CPU time for a turn that reads memory, and for one that also writes it; the work of a write after
 * the answer is waited for and included. Once with a model that answers immediately and extracts one fact from each
 * exchange, and once with the simulated model, where rules extract. On SQLite, with ten turns per session.
 */
export const benchWriteback = async (): Promise<readonly Row[]> => {
  const model = await startScript('floor/model')
  try {
    return [
      ...(await rowsWith('a model', { model: 'gpt-4o-mini', env: modelEnv(model) })),
      ...(await rowsWith('rules', { model: 'simulated-1', env: {} })),
    ]
  } finally {
    await model.stop()
  }
}

interface Setting {
  readonly model: string
  readonly env: Readonly<Record<string, string>>
}

async function rowsWith(extractor: string, { model, env }: Setting): Promise<readonly Row[]> {
  const server = await startServer({ BOOTSTRAP_SECRET_KEY: key, ...env })
  try {
    const cpu: Readonly<Record<Kind, number[]>> = { none: [], read: [], written: [] }
    for (let round = -1; round < rounds; round++) {
      for (const kind of round % 2 === 0 ? kinds : kinds.toReversed()) {
        const each = await cpuOf(server, model, kind)
        if (round >= 0) cpu[kind].push(each)
      }
    }
    const [none, read, written] = [median(cpu.none), median(cpu.read), median(cpu.written)]
    const measure = (what: string): string => `CPU a turn ${what}, ${extractor} extracts`
    return [
      { measure: measure('without memory'), unit: 'ms', ours: none },
      { measure: measure('that reads memory'), unit: 'ms', ours: read },
      {
        ...{ measure: measure('that writes it too'), unit: 'ms', ours: written },
        ...{ against: { name: 'reads', value: read }, bound: { of: 'ratio', atMost: 1.05 } },
      },
      // the simulated model streams its answer word by word, which hides what the rules cost in the sum above
      {
        measure: `CPU of writing memory alone, ${extractor} extracts`,
        ...{ unit: 'ms', ours: written - read, against: { name: 'turn', value: none } },
      },
    ]
  } finally {
    await server.stop()
  }
}

type Kind = 'none' | 'read' | 'written'
const kinds: readonly Kind[] = ['none', 'read', 'written']
const memoryOf: Readonly<Record<Kind, unknown>> = { none: false, read: { write: false }, written: true }
let users = 0

/** Returns the CPU time per turn in ms, including the work after the answer. */
async function cpuOf(server: Service, model: string, kind: Kind): Promise<number> {
  const before = cpuMsOf(server.pid)
  const receipts: string[] = []
  let session = ''
  for (let n = 0; n < turns; n++) {
    if (n % 10 === 0) session = await newSession(server, `user ${users++}`)
    const body = { input: said[n % said.length], model, memory: memoryOf[kind] }
    const stream = await post(server, `/v1/sessions/${session}/turns`, body)
    if (!stream.includes('event: turn.completed')) throw new Error(`the turn did not complete: ${stream.slice(-200)}`)
    const receipt = /"write_request_id":"([^"]+)"/.exec(stream)?.[1]
    if (receipt !== undefined) receipts.push(receipt)
  }
  if (receipts.length > 0 !== (kind === 'written')) throw new Error(`${receipts.length} writes of turns: ${kind}`)
  for (const receipt of receipts.slice(-10)) await settled(server, receipt)
  return (cpuMsOf(server.pid) - before) / turns
}

async function newSession(server: Service, user: string): Promise<string> {
  const { id }: { readonly id: string } = JSON.parse(await post(server, '/v1/sessions', { external_user_id: user }))
  return id
}

async function settled(server: Service, receipt: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`${server.url}/v1/memory/writes/${receipt}`, { headers })
    const { status }: { readonly status: string } = JSON.parse(await answer.text())
    if (status === 'success') return
    if (status === 'error') throw new Error(`the write ${receipt} failed`)
    await new Promise((resolve) => setTimeout(resolve, settleMs))
  }
}

const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }

async function post({ url }: Service, path: string, body: object): Promise<string> {
  const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text.slice(0, 200)}`)
  return text
}
