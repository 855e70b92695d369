import { Readable } from 'node:stream'
import { connectionEffects } from '#actors/connections/connection-effects.ts'
import { ConnectionVault } from '#actors/connections/connection-vault.ts'
import type { OAuthServer } from '#actors/connections/oauth/oauth-server.ts'
import type { Clock } from '#runtime/clock.ts'
import type { JsonObject, Storage } from '#storage/ports.ts'

/** Response of a token endpoint. */
export interface TokenReply {
  readonly status: number
  readonly body: JsonObject
}

/** Behaviour of the providers of a simulation. */
export interface ScriptedConnections {
  readonly token?: () => TokenReply
}

const server: OAuthServer = {
  authorizationUrl: 'https://provider.example/auth',
  tokenUrl: 'https://provider.example/token',
  revocationUrl: null,
  issuer: 'https://provider.example',
  scopes: [],
  parameters: {},
  clientId: 'troupe',
  clientSecret: 'secret',
  auth: 'client_secret_basic',
}

/** Does not seal secrets, so that a simulation is reproducible to the byte. */
const plainBox = { seal: (text: string) => text, open: (text: string) => text }

const granted: TokenReply = {
  status: 200,
  body: { access_token: 'at', refresh_token: 'rt', token_type: 'bearer', expires_in: 3600 },
}

/** Effects of connections without a network, for simulations in virtual time. */
export const scriptedConnections = ({
  storage,
  clock,
  token = () => granted,
}: ScriptedConnections & { readonly storage: Storage; readonly clock: Clock }) =>
  connectionEffects({
    storage,
    clock,
    vault: new ConnectionVault({ records: storage.records, box: plainBox, now: clock.now }),
    servers: { of: async () => server },
    discoveries: { forget: async () => {}, remove: async () => {} },
    tools: { remove: async () => {} },
    guard: { request: async () => answerOf(token()) },
    now: clock.now,
    random: () => 0,
  })

const answerOf = ({ status, body }: TokenReply) => ({
  statusCode: status,
  statusText: '',
  headers: { 'content-type': 'application/json' },
  trailers: {},
  opaque: null,
  context: {},
  body: Object(Readable.from([Buffer.from(JSON.stringify(body))])),
})
