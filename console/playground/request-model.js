/**
 * A request of the playground: settings as `responses.create` names them, and the conversation so far.
 *
 * @typedef {Readonly<Record<string, unknown>>} Settings
 * @typedef {Readonly<Record<string, unknown>>} Item an item of the input
 * @typedef {{ settings: Settings, items: readonly Item[], text: string }} Opened
 * @typedef {{ user: string, base: string }} Switches the user whose memory is used, and the knowledge base; '' for none
 * @typedef {'curl' | 'TypeScript' | 'Python'} Language
 */

/** @param {unknown} value @returns {Readonly<Record<string, any>>} */
const recordOf = (value) =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {}

/** Fields whose value is set. @param {Readonly<Record<string, unknown>>} fields @returns {Settings} */
const filledIn = (fields) =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== ''),
  )

/** The body of a request. @param {Settings} settings @param {Switches} switches @param {readonly Item[]} input */
export const requestOf = (settings, { user, base }, input) => {
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

/** The settings of an agent's config. Tools that the server runs in a session become functions. @param {unknown} config @returns {Settings} */
export const settingsOfAgent = (config) => {
  const { model, system_prompt, instructions, temperature, top_p, max_tokens, tools = [] } = recordOf(config)
  return filledIn({
    ...{ model, temperature, top_p, max_output_tokens: max_tokens },
    instructions: [system_prompt, instructions].filter(Boolean).join('\n\n'),
    tools: tools.length === 0 ? undefined : tools.map(functionOf),
  })
}

/** @param {any} tool */
const functionOf = (tool) => {
  const { name, description, parameters } = tool.function ?? tool
  return name === undefined ? tool : filledIn({ type: 'function', name, description, parameters })
}

/** The settings and messages of a stored prompt's version. @param {unknown} version @returns {Opened} */
export const openedPrompt = (version) => {
  const { messages = [], model, temperature, top_p, max_output_tokens } = recordOf(version)
  return { ...openedMessages(messages, { model, temperature, top_p, max_output_tokens }), text: '' }
}

/** @param {any[]} messages @param {Readonly<Record<string, unknown>>} settings @returns {Opened} */
const openedMessages = (messages, settings) => {
  const leads = messages.filter(({ role }) => role === 'system' || role === 'developer')
  const others = messages.filter((each) => !leads.includes(each))
  const last = others.at(-1)
  const isText = last?.role === 'user' && typeof last.content === 'string'
  return {
    settings: filledIn({ ...settings, instructions: leads.map(({ content }) => textOf(content)).join('\n\n') }),
    items: isText ? others.slice(0, -1) : others,
    text: isText ? last.content : '',
  }
}

/** @param {unknown} content @returns {string} */
const textOf = (content) =>
  typeof content === 'string' ? content : Array.isArray(content) ? content.map((part) => part.text ?? '').join('') : ''

/**
 * A logged request, to be sent again; null for one that the log did not keep whole, or of another operation.
 *
 * @param {string} operation
 * @param {string | null} body
 * @returns {Opened | null}
 */
export const openedRequest = (operation, body) => {
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

/** @param {string | null} body */
const parsed = (body) => {
  try {
    return body === null ? null : recordOf(JSON.parse(body))
  } catch {
    // a body that the log truncated
    return null
  }
}

/** The request as code. @param {Language} language @param {object} body @param {string} server its address */
export const codeOf = (language, body, server) => {
  const json = JSON.stringify(body, null, 2)
  if (language === 'curl')
    return `curl ${server}/v1/responses \\\n  -H "Authorization: Bearer $TROUPE_KEY" \\\n  -H "Content-Type: application/json" \\\n  -d '${json.replaceAll("'", "'\\''")}'`
  if (language === 'TypeScript')
    return `import { Troupe } from '@troupe/client'\nimport { responses } from '@troupe/client/api'\n\nconst troupe = new Troupe({ baseUrl: '${server}', key: process.env.TROUPE_KEY })\nconst { output } = await responses(troupe).create(${json})\nconsole.log(output)`
  return `import os\n\nfrom troupe import Troupe\n\nwith Troupe("${server}", key=os.environ["TROUPE_KEY"]) as troupe:\n    body = ${pythonOf(body, '    ')}\n    print(troupe.request("POST", "/v1/responses", body=body)["output"])`
}

/** A JSON value as Python writes it. @param {unknown} value @param {string} indent @returns {string} */
const pythonOf = (value, indent) => {
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
