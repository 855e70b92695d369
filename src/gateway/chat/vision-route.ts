import { arrayOf, isObject } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { ChatBody } from '../call/chat-calls.ts'
import type { Route } from '../call/routes.ts'
import type { Way, Ways } from '../call/ways.ts'
import { capabilitiesOf, visionModelOf } from '../prices/model-capabilities.ts'

const upgrades = new WeakMap<Route, Route>()

/** Whether a request shows images. */
export const showsImages = ({ messages }: ChatBody): boolean =>
  arrayOf(messages).some(
    (message) => isObject(message) && Array.isArray(message.content) && message.content.some(isImage),
  )

/**
 * The route on which the same provider can see (`chat_completions.create`): another model of it where the requested one is
 * known not to. An unknown model is taken at its word.
 */
export const visionRoute = (route: Route): Route => {
  const known = upgrades.get(route)
  if (known !== undefined) return known
  const capabilities = capabilitiesOf(route.provider, route.model)
  const model = capabilities === null || capabilities.includes('vision') ? null : visionModelOf(route.provider)
  const made = model === null ? route : Object.freeze({ ...route, model })
  upgrades.set(route, made)
  return made
}

/**
 * The ways whose models see as they are, so that images lead to no model that was not named: what an agent's public key
 * may use are its agent's models.
 */
export const seeingWays = (ways: Ways<Way>): Ways<Way> => new SeeingWays(ways)

class SeeingWays implements Ways<Way> {
  readonly #ways: Ways<Way>
  #seen = false

  constructor(ways: Ways<Way>) {
    this.#ways = ways
  }

  get hasMore(): boolean {
    return this.#ways.hasMore
  }

  next(): Way | null | Promise<Way | null> {
    const way = this.#ways.next()
    return way instanceof Promise ? way.then((late) => this.#seeing(late)) : this.#seeing(way)
  }

  skipModel(): void {
    this.#ways.skipModel()
  }

  #seeing(way: Way | null): Way | null | Promise<Way | null> {
    if (way === null && !this.#seen)
      throw new ServiceError('secret_key_required', { param: 'messages', message: noneSees })
    if (way !== null && visionRoute(way.route) !== way.route) return this.next()
    this.#seen = true
    return way
  }
}

const noneSees = 'No model of the agent accepts images, and a public key can use only the models of its agent.'

const isImage = (part: unknown): boolean => isObject(part) && part.type === 'image_url'
