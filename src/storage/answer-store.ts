import { createHash } from 'node:crypto'

/** Whose answers: a project's, and in it those of one lane, so that no lane crowds out the others. */
export interface AnswerPlace {
  readonly project: string
  /** Tenant and user; contains no name of a person. */
  readonly lane: string
}

/** Values by the keys that were read, in their order; null for none. */
export interface FoundAnswers {
  readonly values: readonly (string | null)[]
  /** Counts what the project forgot: a value made from an earlier state is not stored. */
  readonly mark: number
}

/** A value to store. */
export interface KeptAnswer {
  readonly text: string
  readonly ttlMs: number
  /** The mark of the read before the value was made. */
  readonly mark: number
}

/**
 * Answers for some time, in a bounded number of bytes. What exceeds it is taken from the project that has the most, in it from
 * the lane that has the most, and there from what was not used for longest. Nothing depends on a value: it may be gone at any
 * time. No method rejects.
 */
export interface AnswerStore {
  /** Returns null when the store is unavailable. */
  read(place: AnswerPlace, keys: readonly string[]): FoundAnswers | null | Promise<FoundAnswers | null>
  put(place: AnswerPlace, key: string, value: KeptAnswer): Promise<void>
  /**
   * Removes the answers of a project, and those that are being made.
   *
   * @param lanes beginning of the lanes; absent: all.
   */
  forget(project: string, lanes?: string): Promise<void>
}

/** Bytes that an answer takes in addition to its text. */
export const answerOverhead = 256

/** Most bytes of answers that a server keeps, by itself or in Redis. */
export const maxAnswerBytes = 64 * 1024 * 1024

/** Returns the lane of a tenant, or of one of its users; every lane of a tenant begins with the tenant's. */
export const answerLane = (tenant: string | null, user: string | null = null): string => {
  const lane = `${tenant ?? ''}|`
  return user === null ? lane : lane + createHash('sha256').update(user).digest('base64url').slice(0, 22)
}
