/** Most tools of one server that are taken. */
export const maxServerTools = 512

/** Longest description of a tool, in characters. */
export const maxToolDescription = 4096

/** Longest schema of a tool's arguments, in characters of JSON. */
export const maxToolSchema = 32_768

/** Longest snapshot of a server's tools, in characters of JSON. */
export const maxSnapshot = 2_000_000

/** Most resources, templates and prompts of one server that are kept of each. */
export const maxListed = 500

/** Longest URI of a resource. */
export const maxResourceUri = 2048

/** Longest content of a resource or a prompt that is passed on, in characters of JSON. */
export const maxContent = 1_000_000

/** Most servers of a project. */
export const maxServers = 500

/** Time for a tool to answer, in ms. */
export const callTimeoutMs = { default: 60_000, most: 300_000 } as const

/** Tools of remote servers that a model is shown at once; beyond it finds them by `search_tools`. */
export const maxShownTools = 40
