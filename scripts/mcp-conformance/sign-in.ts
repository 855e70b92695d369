import {
  auth,
  computeScopeUnion,
  extractWWWAuthenticateParams,
  type StoredOAuthClientInformation,
} from '@modelcontextprotocol/client'
import type { GuardedFetch } from '#outgoing/guarded-fetch.ts'
import { MemoryProvider } from './memory-provider.ts'

const mostSignIns = 3

/** Wraps fetch: signs in when a server requires it, and repeats the request, at most three times. */
export const signingIn =
  (serverUrl: string, registered?: StoredOAuthClientInformation) =>
  (fetch: GuardedFetch): GuardedFetch => {
    const provider = new MemoryProvider(() => fetch, registered)
    const signIn = async (answer: Response): Promise<void> => {
      const { resourceMetadataUrl, scope: wanted } = extractWWWAuthenticateParams(answer)
      const scope = answer.status === 403 ? computeScopeUnion(provider.scope, wanted) : wanted
      const options = {
        ...{ serverUrl, fetchFn: fetch, forceReauthorization: answer.status === 403 },
        ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }),
        ...(scope !== undefined && { scope }),
      }
      if ((await auth(provider, options)) === 'AUTHORIZED') return
      const { code, iss } = provider.callback ?? { code: '', iss: undefined }
      await auth(provider, { ...options, authorizationCode: code, ...(iss !== undefined && { iss }) })
    }
    return async (url, init) => {
      for (let tries = 0; ; tries++) {
        const headers = new Headers(init?.headers)
        const token = provider.tokens()?.access_token
        if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
        const answer = await fetch(url, { ...init, headers })
        if (!isChallenge(answer) || tries >= mostSignIns) return answer
        await answer.body?.cancel()
        await signIn(answer)
      }
    }
  }

const isChallenge = (answer: Response): boolean =>
  answer.status === 401 ||
  (answer.status === 403 && extractWWWAuthenticateParams(answer).error === 'insufficient_scope')
