/** Maximum number of tools of one server. */
export const maxServerTools = 512

/** Maximum length of a tool's description, in characters. */
export const maxToolDescription = 4096

/** Maximum length of the schema of a tool's arguments, in characters of JSON. */
export const maxToolSchema = 32_768

/** Maximum length of the snapshot of a server's tools, in characters of JSON. */
export const maxSnapshot = 2_000_000

/** Maximum number of resources, of templates and of prompts that are stored for one server. */
export const maxListed = 500

/** Maximum length of a resource's URI, in characters. */
export const maxResourceUri = 2048

/** Maximum length of the content of a resource or prompt, in characters of JSON. */
export const maxContent = 1_000_000

/** Maximum number of servers of a project. */
export const maxServers = 500

/** Timeout of a tool call, in ms. Agents may take long. */
export const callTimeoutMs = { default: 60_000, max: 3_600_000 } as const

/** Maximum number of remote tools that a model sees directly. Beyond it, the model finds tools with `search_tools`. */
export const maxShownTools = 40
