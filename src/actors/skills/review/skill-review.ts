import { randomUUID } from 'node:crypto'
import type { ChatCalls } from '#gateway/call/chat-calls.ts'
import { isObject } from '#runtime/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { SkillFinding } from '#src/skill-scan/index.ts'
import { projectScope, type Scope } from '#storage/index.ts'
import type { ArchivedFile } from '../scanner/skill-archive.ts'
import { readReview } from './read-review.ts'
import { reviewBody, reviewLimits, reviewParts } from './review-prompt.ts'

export interface SkillReviewParts {
  readonly chats: () => Pick<ChatCalls, 'complete'>
  /** The model that a project has chosen; null for none. */
  readonly modelOf: (project: string) => Promise<string | null>
}

/** Timeout of one request in ms. */
const patienceMs = 90_000

/**
 * Reviews skills for what they mean, by a model of the project (specs/decisions/0157-skills.md). A
 * review that fails loses nothing: it is a finding, which blocks nothing.
 */
export class SkillReview {
  readonly #parts: SkillReviewParts

  constructor(parts: SkillReviewParts) {
    this.#parts = parts
  }

  /** Returns the findings of a review, or the one that none took place. */
  async findings(files: readonly ArchivedFile[], { project }: Scope): Promise<readonly SkillFinding[]> {
    const model = await this.#parts.modelOf(project)
    if (model === null)
      return [about('info', 'not_reviewed_for_meaning', 'No model has read the skill for its meaning.')]
    const parts = reviewParts(files)
    const found: SkillFinding[] = []
    try {
      for (const part of parts.slice(0, reviewLimits.requests))
        found.push(...(await this.#reviewed({ model, part, project, paths: new Set(files.map(({ path }) => path)) })))
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      found.push(about('warning', 'review_failed', `The model ${model} did not review the skill: ${error.message}`))
    }
    if (parts.length > reviewLimits.requests)
      found.push(about('warning', 'review_incomplete', `The model ${model} has read only the beginning of the skill.`))
    return found
  }

  /** @throws {ServiceError} when the model cannot be called, or its answer is no review */
  async #reviewed({ model, part, project, paths }: Reviewed): Promise<readonly SkillFinding[]> {
    const scope = projectScope(project)
    const { completion } = await this.#parts.chats().complete({
      caller: {
        ...{ principal: { kind: 'secret_key', project, keyId: 'skills' }, scope, requestId: randomUUID(), project },
        ...{ tenant: null, externalUserId: null, keyId: null, agentId: null, models: null },
      },
      ...{ operation: 'chat_completions.create', need: 'chat' },
      body: reviewBody(model, part, `<<${randomUUID()}>>`),
      signal: AbortSignal.timeout(patienceMs),
    })
    const findings = readReview(textIn(completion), paths)
    if (findings === null)
      throw new ServiceError('provider_error', { message: 'Its answer is not a review in the requested form.' })
    return findings
  }
}

interface Reviewed {
  readonly model: string
  readonly part: string
  readonly project: string
  readonly paths: ReadonlySet<string>
}

const about = (severity: SkillFinding['severity'], code: string, message: string): SkillFinding => ({
  ...{ severity, code, path: 'SKILL.md', line: 1, message },
})

const textIn = (completion: unknown): string => {
  const choices = isObject(completion) && Array.isArray(completion.choices) ? completion.choices : []
  const [first] = choices
  const message = isObject(first) ? first.message : null
  return isObject(message) && typeof message.content === 'string' ? message.content : ''
}
