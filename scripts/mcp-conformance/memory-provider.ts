import type {
  OAuthClientInformationContext,
  OAuthClientProvider,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import type { GuardedFetch } from '#outgoing/guarded-fetch.ts'

/** Parameters of the redirect at the end of a sign-in: the code, and the issuer. */
export interface Callback {
  readonly code: string
  readonly iss: string | undefined
}

/**
 * OAuth provider without a person: keeps everything in memory and follows the authorization URL itself, as if the user
 * agreed at once.
 */
export class MemoryProvider implements OAuthClientProvider {
  readonly redirectUrl = 'http://localhost:3000/callback'
  readonly clientMetadataUrl = 'https://conformance-test.local/client-metadata.json'
  readonly clientMetadata = {
    client_name: 'troupe',
    redirect_uris: ['http://localhost:3000/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    application_type: 'native',
  }
  callback: Callback | null = null
  scope: string | undefined
  readonly #fetch: () => GuardedFetch
  readonly #registered: StoredOAuthClientInformation | undefined
  #client: StoredOAuthClientInformation | undefined
  #tokens: StoredOAuthTokens | undefined
  #verifier = ''

  /** @param registered a client that the authorization server already knows. */
  constructor(fetch: () => GuardedFetch, registered?: StoredOAuthClientInformation) {
    this.#fetch = fetch
    this.#registered = registered
  }

  /** Returns the credentials only for the authorization server that issued them, else the registered client. */
  clientInformation(context?: OAuthClientInformationContext): StoredOAuthClientInformation | undefined {
    if (this.#client !== undefined && this.#client.issuer === context?.issuer) return this.#client
    return this.#registered
  }

  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.#client = client
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.#tokens
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    this.#tokens = tokens
  }

  async redirectToAuthorization(url: URL): Promise<void> {
    this.scope = url.searchParams.get('scope') ?? undefined
    const answer = await this.#fetch()(url, { redirect: 'manual' })
    await answer.body?.cancel()
    const back = new URL(answer.headers.get('location') ?? '', url)
    const code = back.searchParams.get('code')
    if (code === null) throw new Error(`no code: ${back.searchParams.get('error')}`)
    this.callback = { code, iss: back.searchParams.get('iss') ?? undefined }
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier
  }

  codeVerifier(): string {
    return this.#verifier
  }

  invalidateCredentials(what: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void {
    if (what === 'all' || what === 'client') this.#client = undefined
    if (what === 'all' || what === 'tokens') this.#tokens = undefined
  }
}
