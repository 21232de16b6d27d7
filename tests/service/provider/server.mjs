// An OpenID provider for the tests: whoever types a login name of USERS is that person, with any password.
// node server.mjs PORT CALLBACK USERS (a JSON file: login name -> claims, read again for each sign-in)
import { readFileSync } from "node:fs";
import Provider from "oidc-provider";

const [port, callback, users] = process.argv.slice(2);
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [{
    client_id: "trustreport",
    client_secret: "a secret of the client",
    redirect_uris: [callback],
  }],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "groups"] },
  cookies: { keys: ["of the tests"] },
  pkce: { required: () => true },
  async findAccount(ctx, id) {
    const claims = JSON.parse(readFileSync(users))[id];
    return claims && { accountId: id, claims: () => ({ sub: id, ...claims }) };
  },
});
provider.listen(Number(port), "127.0.0.1", () => process.stdout.write("ready\n"));
