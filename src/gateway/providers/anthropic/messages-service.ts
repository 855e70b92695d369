import type { Route } from '#gateway/call/routes.ts'
import type { DocumentTarget } from '../document-target.ts'

/** Fields of a Messages request that not every service with Claude models has. */
export type ServiceField = 'container' | 'context_management' | 'inference_geo' | 'speed'

/** What a service has of Anthropic's Messages API, as data: by it, a request is converted for its route. */
export interface MessagesParts {
  /** Beginnings of the types of Anthropic's own tools that it has; null: all. */
  readonly tools: readonly string[] | null
  readonly fields: readonly ServiceField[]
  /** Whether it takes beta features of the API. */
  readonly betas: boolean
}

/** A service that has a model by Anthropic's Messages API. */
export interface MessagesService extends MessagesParts {
  /** Where it counts the tokens of a message, free of charge. */
  readonly count: (route: Route) => DocumentTarget
}

/** Whether a service has one of Anthropic's own tools. */
export const hasTool = ({ tools }: Pick<MessagesParts, 'tools'>, type: string): boolean =>
  tools === null || tools.some((start) => type.startsWith(start))
