import type { GuardedFetch } from '#outgoing/guarded-fetch.ts'
import { mcpSdk } from '#outgoing/mcp-sdk.ts'
import type { McpChallenge } from './mcp-failure.ts'

/** Maximum number and length of the scopes of a challenge, and length of its URL. */
const maxScopes = 100
const maxScope = 256
const maxUrl = 2048

/** Characters of a scope (RFC 6749, appendix A.4). */
const scopePattern = /^[!#-[\]-~]+$/

/** A fetch that remembers how the server refused credentials. */
export interface WatchedChallenges {
  readonly fetch: GuardedFetch
  /** Returns the newest challenge; null when no credentials were refused. */
  readonly newest: () => McpChallenge | null
}

/** Watches the responses of a server for refused credentials. */
export const watchedChallenges = (fetch: GuardedFetch): WatchedChallenges => {
  let newest: McpChallenge | null = null
  return {
    newest: () => newest,
    fetch: async (url, init) => {
      const answer = await fetch(url, init)
      if (answer.status === 401 || answer.status === 403) newest = await challengeOf(answer)
      return answer
    },
  }
}

/** Returns the challenge of a response; null for a refusal that no other credentials would change. */
const challengeOf = async (answer: Response): Promise<McpChallenge | null> => {
  const { extractWWWAuthenticateParams } = await mcpSdk()
  const { scope, error, resourceMetadataUrl: url } = extractWWWAuthenticateParams(answer)
  const scopes = (scope ?? '').split(' ').filter((each) => each.length <= maxScope && scopePattern.test(each))
  const needsScopes = answer.status === 403 && error === 'insufficient_scope' && scopes.length > 0
  if (answer.status === 403 && !needsScopes) return null
  return {
    resource_metadata: url === undefined || url.href.length > maxUrl ? null : url.href,
    scopes: scopes.length === 0 ? null : scopes.slice(0, maxScopes),
    needsScopes,
  }
}
