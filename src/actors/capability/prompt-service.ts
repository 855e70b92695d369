import type { PromptReference } from '#specs/resources/gateway/shapes/prompt-shapes.ts'
import type { JsonObject } from '#storage/index.ts'
import { Port } from './port.ts'

/** A stored prompt with the values of its variables, as a model call uses it. */
export interface FilledPrompt {
  /** The reference of the request, with the version that was chosen. */
  readonly reference: PromptReference & { readonly version: string }
  /** Items of the Responses API. */
  readonly messages: readonly JsonObject[]
  /** Settings of the version, for what the request leaves out. */
  readonly settings: {
    readonly model?: string
    readonly temperature?: number
    readonly top_p?: number
    readonly max_output_tokens?: number
  }
}

/** Stored prompts, as model calls use them. */
export interface PromptService {
  /**
   * Returns a prompt with the values of its variables.
   *
   * @throws {ServiceError} `not_found` for an unknown prompt or version, `missing_field` and `invalid_field` for variables.
   */
  filled(project: string, reference: PromptReference): Promise<FilledPrompt>
}

/** Stored prompts, for model calls of this server. */
export const promptService = new Port<PromptService>('prompts')
