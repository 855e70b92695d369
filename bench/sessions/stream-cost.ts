import { readFileSync } from 'node:fs'
import type { Service } from '#scripts/services/service.ts'
import { sized } from '../extent.ts'
import { cpuMsOf } from '../recall/process-cpu.ts'
import { median } from '../row.ts'
import { outcomeOf } from '../sessions.ts'
import type { Outcome } from './client.ts'
import type { StreamApi } from './stream-calls.ts'

const rounds = sized(3, 1)
const idleMs = sized(1_500, 100)
/** Time in ms after the last answer within which rows are written and streams compacted. */
const settleMs = sized(3_000, 100)

/** Processes that answer by one of their APIs, and the key of their clients. */
export interface Arm {
  readonly api: StreamApi
  /** Where the clients go, each to one. */
  readonly nodes: readonly Pick<Service, 'url' | 'pid'>[]
  /** Processes that they need, whose work counts too. */
  readonly behind?: readonly Pick<Service, 'pid'>[]
  readonly key: string
}

/** What one answer cost, and how old its deltas were when they arrived. */
export interface Cost {
  readonly cpuMs: number
  /** NaN for servers of others. */
  readonly commits: number
  readonly writtenKb: number
  readonly outcome: Outcome
}

interface Measuring {
  readonly arm: Arm
  readonly costs: Cost[]
  isOut: boolean
}

/**
 * One warm-up of each, then rounds in alternating order. A server of others that breaks off answers is left out.
 *
 * @returns the costs of each arm, one a round; none for one that was left out.
 */
export async function costsOf(arms: readonly Arm[], atOnce: number): Promise<readonly (readonly Cost[])[]> {
  const measured = arms.map((arm): Measuring => ({ arm, costs: [], isOut: false }))
  for (let round = -1; round < rounds; round++) {
    for (const each of round % 2 === 0 ? measured : measured.toReversed()) {
      if (each.isOut) continue
      const cost = await costOf(each.arm, round < 0 ? Math.min(4, atOnce) : atOnce).catch((error: unknown) => {
        if (isOurs(each.arm)) throw error
        console.error(`${each.arm.api} is left out: ${error}`)
        each.isOut = true
      })
      if (round >= 0 && cost !== undefined) each.costs.push(cost)
    }
  }
  return measured.map(({ costs, isOut }) => (isOut ? [] : costs))
}

const isOurs = ({ api }: Arm): boolean => api === 'turn' || api === 'chat'

async function costOf(arm: Arm, atOnce: number): Promise<Cost> {
  const { nodes, behind = [], key, api } = arm
  const used = () => [...nodes, ...behind].reduce((sum, { pid }) => sum + cpuMsOf(pid), 0)
  const idleFrom = used()
  await wait(idleMs)
  const idle = (used() - idleFrom) / idleMs
  const [cpu, commits, written, startedAt] = [used(), await commitsOf(arm), writtenBytes(arm), performance.now()]
  const each = Math.ceil(atOnce / nodes.length)
  const outcomes = await Promise.all(nodes.map(({ url }) => outcomeOf({ url, key, stream: each, api })))
  await wait(settleMs)
  const turns = each * nodes.length
  return {
    cpuMs: (used() - cpu - idle * (performance.now() - startedAt)) / turns,
    commits: ((await commitsOf(arm)) - commits) / turns,
    writtenKb: (writtenBytes(arm) - written) / turns / 1024,
    outcome: {
      seconds: Math.max(...outcomes.map(({ seconds }) => seconds)),
      completed: turns,
      lateP50: median(outcomes.map(({ lateP50 }) => lateP50)),
      lateP99: Math.max(...outcomes.map(({ lateP99 }) => lateP99)),
      gapP99: Math.max(...outcomes.map(({ gapP99 }) => gapP99)),
      firstP50: median(outcomes.map(({ firstP50 }) => firstP50)),
    },
  }
}

async function commitsOf(arm: Arm): Promise<number> {
  const { nodes } = arm
  if (!isOurs(arm)) return Number.NaN
  const counts = await Promise.all(
    nodes.map(async ({ url }) => {
      const text = await (await fetch(`${url}/metrics`)).text()
      return Number(/^troupe_commits_total (\d+)/m.exec(text)?.[1])
    }),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Bytes that the processes have caused to be written to disk; NaN without /proc. */
function writtenBytes({ nodes, behind = [] }: Arm): number {
  try {
    return [...nodes, ...behind].reduce((sum, { pid }) => {
      const [, bytes] = /^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8')) ?? []
      return sum + Number(bytes)
    }, 0)
  } catch {
    return Number.NaN
  }
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
