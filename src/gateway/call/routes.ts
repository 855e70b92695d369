import type { UnitPrices } from '#gateway/prices/own-prices.ts'
import type { WireFormat } from '#specs/data/providers.ts'
import type { Waits } from './waits.ts'

/** What a gateway request needs a model for. */
export type Need = 'chat' | 'vision' | 'embedding' | 'speech' | 'transcription' | 'image'

/**
 * Whose key serves: the project's own (`byok`: a provider connection), a server that the project registered
 * (`custom`), the installation's (`managed`), or none (`simulated`).
 */
export type KeySource = 'byok' | 'custom' | 'managed' | 'simulated'

/** One way to serve a model for a project. Immutable, and the same object from call to call: caches may key on it. */
export interface Route {
  /** The model as its provider knows it, without a prefix. */
  readonly model: string
  /** Id of `specs/data/providers.ts`, or `custom:<id>`. */
  readonly provider: string
  readonly format: WireFormat
  /** Up to the version segment, without a slash at its end. */
  readonly baseUrl: string
  /** null: the server takes none. Never shown, never logged. */
  readonly apiKey: string | null
  readonly source: KeySource
  /** The provider connection or custom provider that the key is of. */
  readonly connectionId: string | null
  /** Prices that the project has set; absent: those of the list. */
  readonly ownPrices?: UnitPrices
  /** How long its provider may be silent; absent: as the installation says. */
  readonly waits?: Waits
}

/** Finds out who can serve a model for a project. */
export interface Routes {
  /**
   * Routes in the order in which to try them: the project's own keys before managed ones; never empty. Answers without
   * waiting when what it has of the project is fresh, as it is for a project in steady use.
   *
   * Takes a model id, `provider/model`, `custom:<id>/<model>`, `custom:<id>` (its first model) and the name of a custom provider.
   * @throws {ServiceError} `model_not_found`, `provider_not_configured`, `provider_not_active`; param `model`.
   */
  resolve(project: string, model: string, need: Need): readonly Route[] | Promise<readonly Route[]>
}
