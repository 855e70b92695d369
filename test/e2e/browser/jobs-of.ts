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

/** The job once it waits for a person with this message, in this attempt or a later one. A job that has ended instead is reported at once. */
export const waiting = async (api: Api, id: string, message: string | null, min = 1) => {
  const job = await vi.waitFor(async () => {
    const { body } = await api.get(`${path}/${id}`)
    const isWaiting = body.waiting !== null && body.attempts >= min
    expect(isWaiting || !isOpen(body), JSON.stringify(body)).toBe(true)
    return body
  }, patience)
  expect(job, JSON.stringify(job)).toMatchObject({ status: 'running', waiting: { message } })
  return job
}

/** The job once it has ended. */
export const ended = (api: Api, id: string) =>
  vi.waitFor(async () => {
    const { body } = await api.get(`${path}/${id}`)
    expect(isOpen(body), JSON.stringify(body)).toBe(false)
    return body
  }, patience)

const isOpen = ({ status }: { readonly status: string }): boolean => ['queued', 'running'].includes(status)
