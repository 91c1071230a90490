// SPDX-License-Identifier: Apache-2.0
// Counts rising edges of a line.
module pulse_counter (
    input             clk,
    input             rst_n,
    input             line,
    output reg [15:0] count
);
    reg earlier;
    always @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            count   <= 0;
            earlier <= 0;
        end else begin
            earlier <= line;
            if (line && !earlier) count <= count + 1;
        end
endmodule
