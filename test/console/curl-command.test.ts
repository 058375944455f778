import { expect } from 'chai';
import { curlCommand } from '../../src/console/model/curl-command.js';

describe('the curl command of a view', () => {
  it('takes the key from the variable that the first start prints', () => {
    expect(curlCommand("http://localhost:4318/spans?names=it's")).to.equal(
      'curl -H "Authorization: Bearer $SPANHOUSE_KEY" \'http://localhost:4318/spans?names=it%27s\'',
    );
  });
});
