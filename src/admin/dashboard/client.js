// Asks the admin API of the listener that this page came from. The token stays in this tab and ends with it.

const KEPT = 'as4-once token';

export class Refused extends Error {
  constructor(status, { code, detail, advice }) {
    super(`${code}: ${detail}. ${advice}`);
    this.status = status;
    this.code = code;
  }
}

export const token = {
  get: () => sessionStorage.getItem(KEPT),
  set: (value) => sessionStorage.setItem(KEPT, value),
  forget: () => sessionStorage.removeItem(KEPT),
};

/** @throws Refused where as4-once says no; TypeError where nobody answers */
export async function ask(path, body) {
  const kept = token.get();
  const answer = await fetch(`api${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    cache: 'no-store',
    headers: {
      ...(kept === null ? {} : { Authorization: `Bearer ${kept}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const json = await answer.json().catch(() => ({ error: { code: `HTTP ${answer.status}`, detail: 'no JSON came back', advice: 'Something stands between this page and as4-once.' } }));
  if (!answer.ok) throw new Refused(answer.status, json.error);
  return json;
}
