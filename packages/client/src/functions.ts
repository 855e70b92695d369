import type { PendingAction } from './messages.ts'
import { type CallStore, page } from './page.ts'
import { asNever } from './schema.ts'
import type { Session } from './session.ts'

/** A tool that this page runs. */
export interface PageFunction {
  /** Says to the model when to call it. */
  readonly description?: string
  /** JSON Schema of the arguments. */
  readonly parameters?: object
  /** Whether a person approves each call first. */
  readonly needsApproval?: boolean
  /** Whether a call whose result was lost with its page may run again. Default: false. */
  readonly idempotent?: boolean
  /** Runs one call. What it returns is the output for the model: text, or anything as JSON. */
  run(args: never, call: { readonly actionId: string }): unknown
}

/** Functions of a page as tools. */
export interface PageTools {
  /** Adds their declarations to the tools of a turn. */
  readonly with: (tools: unknown) => { readonly tools: readonly unknown[] }
  /** Runs a call once, and returns its output for the model; undefined for a call of another tool. */
  readonly run: (session: Session, actionId: string) => Promise<string | undefined>
  /** Whether a person approves this call first; undefined for a call of no function of this page. */
  readonly needsApproval: (call: PendingAction) => boolean | undefined
  /** Runs the calls that wait and need no approval, once a session's log has been quiet for a moment. */
  readonly serve: (session: Session) => void
}

/** Quiet in ms after which the pending calls of a log that is being read are taken for its present. */
const settledMs = 100

/** Makes functions of a page tools that the model may call, by their names. */
export const pageFunctions = (functions: Readonly<Record<string, PageFunction>>): PageTools => {
  const begun = new Set<string>()
  const timers = new WeakMap<Session, ReturnType<typeof setTimeout>>()
  const functionOf = ({ run_by, tool }: PendingAction) => (run_by === 'caller' ? functions[tool] : undefined)
  const needsApproval = (call: PendingAction) => {
    const declaration = functionOf(call)
    return declaration && (declaration.needsApproval ?? false)
  }
  const approve = (session: Session): void => {
    for (const call of session.getSnapshot().approvals) {
      if (needsApproval(call) !== false || begun.has(call.action_id)) continue
      begun.add(call.action_id)
      // its output is kept: the next event of the log sends it again
      session.approve(call.action_id).catch(() => begun.delete(call.action_id))
    }
  }
  return {
    with: (tools) => ({ tools: [...declared(functions), ...(Array.isArray(tools) ? tools : [])] }),
    run: async (session, actionId) => {
      const call = session.getSnapshot().approvals.find(({ action_id }) => action_id === actionId)
      const declaration = call && functionOf(call)
      return declaration && (await runOnce(actionId, call.arguments, declaration))
    },
    needsApproval,
    serve: (session) => {
      clearTimeout(timers.get(session))
      timers.set(
        session,
        setTimeout(() => approve(session), settledMs),
      )
    },
  }
}

const declared = (functions: Readonly<Record<string, PageFunction>>): readonly object[] =>
  Object.entries(functions).map(([name, { description, parameters, needsApproval }]) => ({
    type: 'function',
    function: {
      name,
      ...(description !== undefined && { description }),
      ...(parameters !== undefined && { parameters }),
    },
    needsApproval: needsApproval ?? true,
  }))

/** Output for a call that may have run: its page was closed before it could say so. */
const lost = 'The page was closed while this function ran. It is not known whether it took effect.'

/** Calls of this page, for where no storage is. */
const own = new Map<string, string>()

/** What all tabs have of calls. Unlike `localStorage`, it shows a tab at once what another one wrote. */
const shared = async <T>(use: (calls: CallStore) => Promise<T>): Promise<T | undefined> => {
  try {
    return page.caches && (await use(await page.caches.open('troupe:calls')))
  } catch {
    // a page without storage shares nothing with other tabs
    return undefined
  }
}

/** Life of a note in ms: twice that of a call that waits, which is a week at most. */
const keptMs = 14 * 24 * 60 * 60 * 1000

/** Name of the header of a note that has the time at which it was written. */
const writtenAt = 'at'

/** Removes the notes of calls that no tab can show any more. */
const clean = async (calls: CallStore): Promise<void> => {
  for (const key of await calls.keys()) {
    const at = Number((await calls.match(key))?.headers.get(writtenAt))
    if (at < Date.now() - keptMs) await calls.delete(key)
  }
}

const read = async (key: string): Promise<string | undefined> =>
  own.get(key) ?? shared(async (calls) => (await calls.match(key))?.text())

const write = async (key: string, value: string): Promise<void> => {
  own.set(key, value)
  await shared((calls) => calls.put(key, new Response(value, { headers: { [writtenAt]: `${Date.now()}` } })))
}

/**
 * Runs a call once, however many tabs and reloads see it, and returns its output. The start is written down before the
 * work: a call that started and has no output is not run again, unless its function is idempotent.
 */
const runOnce = async (actionId: string, args: unknown, { run, idempotent }: PageFunction): Promise<string> => {
  const key = `/troupe:call:${actionId}`
  const work = async (): Promise<string> => {
    const before = await read(key)
    if (before !== undefined && (before !== 'started' || idempotent !== true))
      return before === 'started' ? lost : before.slice('output:'.length)
    await write(key, 'started')
    void shared(clean)
    const output = await outputOf(() => run(asNever(args), { actionId }))
    await write(key, `output:${output}`)
    return output
  }
  const locks = page.navigator?.locks
  return locks === undefined ? work() : locks.request(key, work)
}

const outputOf = async (run: () => unknown): Promise<string> => {
  try {
    const value = await run()
    return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  } catch (error) {
    return `The function failed: ${error instanceof Error ? error.message : String(error)}`
  }
}
