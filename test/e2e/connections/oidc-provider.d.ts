/** Types for the part of the package that the test provider uses; the package has none. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  export interface Token {
    readonly accountId: string
    readonly aud?: string | readonly string[]
    readonly scope?: string
  }

  export class Provider {
    constructor(issuer: string, configuration: object)
    readonly AccessToken: { find(token: string): Promise<Token | undefined> }
    callback(): (request: IncomingMessage, response: ServerResponse) => void
  }
}
