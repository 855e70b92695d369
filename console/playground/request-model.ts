/** A request of the playground: settings as `responses.create` names them, and the conversation so far. */
export type Settings = Readonly<Record<string, unknown>>

/** an item of the input */
export type Item = Readonly<Record<string, unknown>>

export type Opened = Readonly<{ settings: Settings; items: readonly Item[]; text: string }>

/** the user whose memory is used, and the knowledge base; '' for none */
type Switches = Readonly<{ user: string; base: string }>

type Language = 'curl' | 'TypeScript' | 'Python'

/** what is read of a request, an agent's config or a version of a prompt; each has other fields */
interface Given extends Settings {
  readonly tools?: readonly Item[]
  readonly messages?: readonly Item[]
  readonly input?: string | readonly Item[]
}

const givenIn = (value: unknown): Given => Object(value)

/** Fields whose value is set. */
const filledIn = (fields: Readonly<Record<string, unknown>>): Settings =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== ''),
  )

/** The body of a request. */
export const requestOf = (settings: Settings, { user, base }: Switches, input: readonly Item[]) => {
  const tools = [
    ...(Array.isArray(settings.tools) ? settings.tools : []),
    ...(base === '' ? [] : [{ type: 'file_search', vector_store_ids: [base] }]),
  ]
  return {
    ...filledIn(settings),
    ...(tools.length > 0 && { tools }),
    ...(user !== '' && { memory: { userId: user } }),
    ...{ input, store: false },
  }
}

/** The settings of an agent's config. Tools that the server runs in a session become functions. */
export const settingsOfAgent = (config: unknown): Settings => {
  const { model, system_prompt, instructions, temperature, top_p, max_tokens, tools = [] } = givenIn(config)
  return filledIn({
    ...{ model, temperature, top_p, max_output_tokens: max_tokens },
    instructions: [system_prompt, instructions].filter(Boolean).join('\n\n'),
    tools: tools.length === 0 ? undefined : tools.map(functionOf),
  })
}

const functionOf = (tool: Item): Item => {
  const { name, description, parameters }: Item = Object(tool.function ?? tool)
  return name === undefined ? tool : filledIn({ type: 'function', name, description, parameters })
}

/** The settings and messages of a stored prompt's version. */
export const openedPrompt = (version: unknown): Opened => {
  const { messages = [], model, temperature, top_p, max_output_tokens } = givenIn(version)
  return { ...openedMessages(messages, { model, temperature, top_p, max_output_tokens }), text: '' }
}

const openedMessages = (messages: readonly Item[], settings: Settings): Opened => {
  const leads = messages.filter(({ role }) => role === 'system' || role === 'developer')
  const others = messages.filter((each) => !leads.includes(each))
  const last = others.at(-1)
  const text = last?.role === 'user' && typeof last.content === 'string' ? last.content : null
  return {
    settings: filledIn({ ...settings, instructions: leads.map(({ content }) => textOf(content)).join('\n\n') }),
    items: text === null ? others : others.slice(0, -1),
    text: text ?? '',
  }
}

const textOf = (content: unknown): string =>
  typeof content === 'string' ? content : Array.isArray(content) ? content.map((part) => part.text ?? '').join('') : ''

/** A logged request, to be sent again; null for one that the log did not keep whole, or of another operation. */
export const openedRequest = (operation: string, body: string | null): Opened | null => {
  const request = parsed(body)
  if (request === null) return null
  const { model, temperature, top_p, tools = [] } = request
  const common = { model, temperature, top_p, tools: tools.length === 0 ? undefined : tools.map(functionOf) }
  if (operation === 'chat_completions.create')
    return openedMessages(request.messages ?? [], {
      ...common,
      max_output_tokens: request.max_completion_tokens ?? request.max_tokens,
    })
  if (operation !== 'responses.create') return null
  const { input = '', instructions, max_output_tokens, text, tool_choice } = request
  const settings = { ...common, max_output_tokens, text, tool_choice }
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input
  const opened = openedMessages(items, settings)
  const leads = [instructions, opened.settings.instructions].filter(Boolean).join('\n\n')
  return { ...opened, settings: filledIn({ ...opened.settings, instructions: leads }) }
}

const parsed = (body: string | null) => {
  try {
    return body === null ? null : givenIn(JSON.parse(body))
  } catch {
    // a body that the log truncated
    return null
  }
}

/** The request as code. @param server its address */
export const codeOf = (language: Language, body: object, server: string) => {
  const json = JSON.stringify(body, null, 2)
  if (language === 'curl')
    return `curl ${server}/v1/responses \\\n  -H "Authorization: Bearer $TROUPE_KEY" \\\n  -H "Content-Type: application/json" \\\n  -d '${json.replaceAll("'", "'\\''")}'`
  if (language === 'TypeScript')
    return `import { Troupe } from '@troupe/client'\nimport { responses } from '@troupe/client/api'\n\nconst troupe = new Troupe({ baseUrl: '${server}', key: process.env.TROUPE_KEY })\nconst { output } = await responses(troupe).create(${json})\nconsole.log(output)`
  return `import os\n\nfrom troupe import Troupe\n\nwith Troupe("${server}", key=os.environ["TROUPE_KEY"]) as troupe:\n    body = ${pythonOf(body, '    ')}\n    print(troupe.request("POST", "/v1/responses", body=body)["output"])`
}

/** A JSON value as Python writes it. */
const pythonOf = (value: unknown, indent: string): string => {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  const inner = `${indent}    `
  const isList = Array.isArray(value)
  const parts = isList
    ? value.map((each) => pythonOf(each, inner))
    : Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${pythonOf(each, inner)}`)
  const [open, close] = isList ? ['[', ']'] : ['{', '}']
  return parts.length === 0 ? open + close : `${open}\n${inner}${parts.join(`,\n${inner}`)},\n${indent}${close}`
}
