/**
 * Calls the memory API of a measured server; `path` is what follows `/v1/memory/`. @throws {Error} when the call fails
 */
export type MemoryApi = (path: string, body: object) => Promise<unknown>

/** @param key secret key of the server's project */
export const memoryApi =
  (url: string, key: string): MemoryApi =>
  async (path, body) => {
    const answer = await fetch(`${url}/v1/memory/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return answer.json()
  }
