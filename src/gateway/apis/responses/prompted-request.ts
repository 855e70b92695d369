import type { PromptService } from '#actors/capability/prompt-service.ts'
import type { BodyOf } from '#specs/index.ts'
import type { JsonObject } from '#storage/index.ts'
import { missing } from '../chat-parts.ts'
import type { ResponseRequest } from './response-plan.ts'

/** A request with the settings of its stored prompt, and the prompt's messages. */
export interface PromptedRequest {
  readonly request: ResponseRequest
  readonly prompted: readonly JsonObject[]
}

/**
 * Returns the request with the settings of its stored prompt in place of absent ones. The prompt's version is chosen here: a
 * background response uses it even if the default changes before the response is made.
 *
 * @throws {ServiceError} `missing_field` without a model; what {PromptService.filled} throws.
 */
export const promptedRequest = async (
  prompts: () => PromptService,
  project: string,
  body: BodyOf<'responses.create'>,
): Promise<PromptedRequest> => {
  if (!body.prompt) return { request: { ...body, model: neededModel(body.model) }, prompted: [] }
  const { reference, settings, messages } = await prompts().filled(project, body.prompt)
  const request = {
    ...body,
    prompt: reference,
    model: neededModel(body.model ?? settings.model),
    temperature: body.temperature ?? settings.temperature ?? null,
    top_p: body.top_p ?? settings.top_p ?? null,
    max_output_tokens: body.max_output_tokens ?? settings.max_output_tokens ?? null,
  }
  return { request, prompted: messages }
}

const neededModel = (model: string | null | undefined): string => {
  if (model === undefined || model === null) throw missing('model')
  return model
}
