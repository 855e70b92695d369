/** The user and tenant in the URL, which every memory operation needs. @param {import('../parts/query-form.js').Place} place */
export const ownerOf = ({ query: { user = '', tenant = '' } }) => ({ user, tenant })
