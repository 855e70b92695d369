import { describe, expect, it } from 'vitest'
import { readConfig } from '../src/config.ts'
import { misspeltIn } from '../src/misspelt-variables.ts'

describe('a misspelt variable', () => {
  it.each([
    ['MONGODB_URI', 'MONGODB_URL'],
    ['MONGO_URL', 'MONGODB_URL'],
    ['MONGODB_URL_FIEL', undefined],
    ['PUBIC_URL', 'PUBLIC_URL'],
    ['PUBLICURL', 'PUBLIC_URL'],
    ['DATADIR', 'DATA_DIR'],
    ['MASTERKEY', 'MASTER_KEY'],
    ['TRUSTED_PROXYS', 'TRUSTED_PROXIES'],
    ['OPENAI_APIKEY', 'OPENAI_API_KEY'],
    ['REDIS_URI', 'REDIS_URL'],
    ['REDIS_TLS_CERTPATH', 'REDIS_TLS_CERT_PATH'],
    ['REDIS_SENTINEL_PASSWORT', 'REDIS_SENTINEL_PASSWORD'],
    ['TROUPE_PORT', 'PORT'],
    ['TROUPE_MONGODB_URI', 'MONGODB_URL'],
  ])('named %s is reported as %s', (name, meant) => {
    expect(misspeltIn({ [name]: 'x' })).toEqual(meant === undefined ? [] : [{ name, meant }])
  })

  it('is not reported if it resembles no other variable, or if that one is set too', () => {
    const usual = [
      'PATH',
      'HOME',
      'HOSTNAME',
      'LOGNAME',
      'NODE_ENV',
      'NODE_IP',
      'NODE_PATH',
      'NODE_OPTIONS',
      'TZ',
      'LANG',
      'POSTS',
    ]
    const cluster = ['REDIS_PORT', 'REDIS_SERVICE_HOST', 'MONGODB_PORT', 'OTEL_EXPORTER_OTLP_HEADERS', 'TROUPE_IMAGE']
    const read = [
      'MASTER_KEY_FILE',
      'OPENAI_PRICES',
      'OPENAI_LIMITS',
      'EXA_API_KEY',
      'MALLOC_ARENA_MAX',
      'SERVICE_API_KEY',
      'CHROMIUM_SANDBOX',
    ]
    expect(misspeltIn(Object.fromEntries([...usual, ...cluster, ...read].map((name) => [name, 'x'])))).toEqual([])
    expect(misspeltIn({ MONGODB_URI: 'mongodb://a', MONGODB_URL: 'mongodb://b' })).toEqual([])
    expect(misspeltIn({ MONGODB_URI: 'mongodb://a', MONGODB_URL_FILE: '/run/secrets/mongodb' })).toEqual([])
    expect(misspeltIn({ MONGODB_URI: 'mongodb://a', MONGODB_URL: '' })).toHaveLength(1)
  })

  it('is found in less than half a second among thousands of variables', () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`MONGODB_UR_${n}_SERVICE_PORT`, 'x']))
    const { user } = process.cpuUsage()
    misspeltIn(many)
    expect(process.cpuUsage().user - user).toBeLessThan(500_000)
  })

  it('does not change the configuration', () => {
    expect(readConfig({ MONGODB_URI: 'mongodb://a' })).toEqual(readConfig({}))
  })
})
