// The moment at which the template was made, in milliseconds since the epoch. CommonJS: the frameworks load it with
// require, and Serverless Framework 3 knows no other form.
module.exports = { deployedAt: String(Date.now()) };
