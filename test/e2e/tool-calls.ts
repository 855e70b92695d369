import type { Api } from './api.ts'

/** Answer of the tool server to a tool call. */
export interface ToolAnswer {
  readonly status: number
  readonly isError: boolean
  /** Error code; null for none. */
  readonly code: string | null
  readonly text: string
}

/** Calls a tool at `/mcp` without a session, with the credential of `api`. */
export const callTool = async (api: Api, name: string, given: object): Promise<ToolAnswer> => {
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } }
  const headers = { accept: 'application/json, text/event-stream' }
  const response = await api.fetch('/mcp?mode=write', call, { headers })
  const text = await response.text()
  const [, data = text] = /^data: (.*)$/m.exec(text) ?? []
  const { result, error } = JSON.parse(data)
  const said: string = result?.content?.[0]?.text ?? ''
  return { status: response.status, isError: result?.isError === true, code: error?.code ?? codeIn(said), text }
}

const codeIn = (said: string): string | null => {
  try {
    const { error } = JSON.parse(said)
    return typeof error === 'object' && error !== null ? error.code : (error ?? null)
  } catch {
    return null
  }
}
