import { expect, vi } from 'vitest'
import type { Api } from '../api.ts'
import { patience } from '../patience.ts'

export const path = '/v1/web/browse'

/** Starts a job. @returns its id. */
export const begun = async (api: Api, body: object): Promise<string> => {
  const answer = await api.post(path, body)
  expect(answer.status, JSON.stringify(answer.body)).toBe(202)
  return answer.body.id
}

/** The job once it waits for a person with this message. */
export const waiting = (api: Api, id: string, message: string | null) =>
  vi.waitFor(async () => {
    const { body } = await api.get(`${path}/${id}`)
    expect(body, JSON.stringify(body.error)).toMatchObject({ status: 'running', waiting: { message } })
    return body
  }, patience)

/** The job once it has ended. */
export const ended = (api: Api, id: string) =>
  vi.waitFor(async () => {
    const { body } = await api.get(`${path}/${id}`)
    expect(['queued', 'running']).not.toContain(body.status)
    return body
  }, patience)
