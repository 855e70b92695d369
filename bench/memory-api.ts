/**
 * Calls the memory API of a measured server; `path` is what follows `/v1/memory/`. @throws {Error} when the call fails
 */
export interface MemoryApi {
  (path: string, body: object): Promise<unknown>
  readonly get: (path: string) => Promise<unknown>
}

/** @param key secret key of the server's project */
export const memoryApi = (url: string, key: string): MemoryApi => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const answered = async (path: string, request: RequestInit): Promise<unknown> => {
    const answer = await fetch(`${url}/v1/memory/${path}`, { ...request, headers })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return answer.json()
  }
  return Object.assign((path: string, body: object) => answered(path, { method: 'POST', body: JSON.stringify(body) }), {
    get: (path: string) => answered(path, {}),
  })
}
