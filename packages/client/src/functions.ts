import { page } from './page.ts'
import { asNever } from './schema.ts'

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
  /** Their declarations in a turn. */
  readonly tools: readonly object[]
  /** Whether this is one of them; `gated`: one that a person approves first. */
  readonly has: (tool: string) => boolean | 'gated'
  /** Runs a call once, and returns its output for the model. */
  readonly run: (actionId: string, tool: string, args: unknown) => Promise<string>
}

/** Makes functions of a page tools that the model may call, by their names. */
export const pageFunctions = (functions: Readonly<Record<string, PageFunction>>): PageTools => ({
  tools: declared(functions),
  has: (tool) => (functions[tool]?.needsApproval === true ? 'gated' : tool in functions),
  run: async (actionId, tool, args) => {
    const declaration = functions[tool]
    return declaration === undefined ? '' : await runOnce(actionId, args, declaration)
  },
})

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

const read = (key: string): string | null => {
  try {
    return page.localStorage?.getItem(key) ?? own.get(key) ?? null
  } catch {
    return own.get(key) ?? null
  }
}

const write = (key: string, value: string): void => {
  own.set(key, value)
  try {
    page.localStorage?.setItem(key, value)
  } catch {
    // a page without storage shares nothing with other tabs
  }
}

/**
 * Runs a call once, however many tabs and reloads see it, and returns its output. The start is written down before the
 * work: a call that started and has no output is not run again, unless its function is idempotent.
 */
const runOnce = async (actionId: string, args: unknown, { run, idempotent }: PageFunction): Promise<string> => {
  const key = `troupe:call:${actionId}`
  const work = async (): Promise<string> => {
    const before = read(key)
    if (before !== null && (before !== 'started' || idempotent !== true))
      return before === 'started' ? lost : before.slice('output:'.length)
    write(key, 'started')
    const output = await outputOf(() => run(asNever(args), { actionId }))
    write(key, `output:${output}`)
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
